import type { Grant } from "../../src/protocol/approval.ts";
import type { Gateway } from "../gateway.ts";
import type { Press } from "../channel_adapter.ts";
import { clip, inlineCode } from "../render/defuse.ts";
import { momentText } from "../render/figures.ts";
import { tell, tellRefusal } from "./common.ts";
import { interaction } from "./interaction.ts";

const SHOWN_MAX = 20;

/** What runs unasked because this person once said "always". */
export const grantsCommand = interaction<string>({
  parse: (press) => (press.kind === "command" && /^grants (list|revoke)$/.test(press.id) ? press.id : null),
  async run(gateway, press, id) {
    await press.defer({ private: true });
    const grants = await gateway.server.grants(press.person);
    if (!grants.ok) return tellRefusal(gateway, press, grants);
    const alive = grants.value.grants.filter((grant) => grant.revoked === null);
    if (id === "grants list") return list(press, alive);
    await revoke(gateway, press, alive);
  },
  definition: {
    kind: "chat",
    name: "grants",
    description: "What I may do without asking",
    subcommands: [
      { name: "list", description: "What I may do without asking you" },
      {
        name: "revoke",
        description: "Ask again from now on",
        options: [{ name: "number", description: "Its number in the list", required: true, type: "text" }],
      },
    ],
  },
});

async function list(press: Press, grants: readonly Grant[]): Promise<void> {
  const lines = grants.slice(0, SHOWN_MAX).map((grant, index) => `${index + 1}. ${grantText(grant)}`);
  await tell(press, lines.length === 0 ? "I ask you about everything that has effects." : clip(lines.join("\n"), 1900));
}

async function revoke(gateway: Gateway, press: Press, grants: readonly Grant[]): Promise<void> {
  const grant = grants[Number(press.values.get("number")) - 1];
  if (grant === undefined) return tell(press, "There is no grant with that number; `/grants list` shows them.");
  const revoked = await gateway.server.revokeGrant(press.person, grant.grant_id);
  if (revoked.ok) await tell(press, `I ask again about ${grantText(grant)}.`);
  else await tellRefusal(gateway, press, revoked);
}

function grantText(grant: Grant): string {
  const what =
    grant.match === "tool"
      ? ""
      : grant.match === "exact"
        ? `: exactly ${inlineCode(grant.pattern ?? "", 80)}`
        : `: starting with ${inlineCode(grant.pattern ?? "", 80)}`;
  const where = grant.ws_id === null ? "in all your conversations" : "in one conversation";
  const until = grant.expires === null ? "" : ` until ${momentText(grant.expires)}`;
  return `${inlineCode(grant.tool, 60)}${what}, ${where}${until}`;
}
