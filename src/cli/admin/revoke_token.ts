import { timestamp } from "../../lib/clock.ts";
import { record } from "./audit.ts";
import type { AdminCommand } from "./command.ts";
import { textOf } from "./command.ts";

export const revokeToken: AdminCommand = {
  usage: "revoke-token",
  about: "make an API token useless",
  required: [["--token-id <id>", "as list-tokens shows it"]],
  async run({ store, clock }, options) {
    const token_id = textOf(options, "tokenId") ?? "";
    if (!(await store.users.revokeToken(token_id, timestamp(clock)))) {
      return { ok: false, error: `No token that still works has the id "${token_id}"; list-tokens shows them.` };
    }
    await record({ store, clock }, "token.revoked", token_id);
    return { ok: true, data: { token_id, revoked: true }, lines: [`Revoked ${token_id}.`] };
  },
};
