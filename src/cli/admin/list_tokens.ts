import type { AdminCommand } from "./command.ts";
import { findUser, textOf } from "./command.ts";

export const listTokens: AdminCommand = {
  usage: "list-tokens",
  about: "show API tokens, without what is secret in them",
  optional: [["--user <name>", "only this person's"]],
  async run({ store }, options) {
    const name = textOf(options, "user");
    const found = name === null ? null : await findUser(store, name);
    if (found !== null && !found.ok) return found;
    const names = new Map((await store.users.list()).map((user) => [user.user_id, user.username]));
    const rows = await store.users.listTokens(found?.user.user_id);
    const tokens = rows.map(({ token_hash: _hash, ...row }) => ({ ...row, username: names.get(row.user_id) ?? "" }));
    const lines = tokens.map((token) => {
      const end = token.revoked === null ? (token.expires ?? "never expires") : `revoked ${token.revoked}`;
      return `${token.token_id}  ${token.token_prefix}…  ${token.username}  ${token.scopes}  ${end}`;
    });
    return { ok: true, data: { tokens }, lines: lines.length === 0 ? ["There are no tokens."] : lines };
  },
};
