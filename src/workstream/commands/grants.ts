import { timestamp } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import type { Grant } from "../../protocol/approval.ts";
import type { Command } from "./command.ts";

/** Lists what runs unasked because somebody said "always", and takes it back. */
export const grants: Command = {
  name: "grants",
  usage: "/grants [revoke N]",
  summary: 'lists what was allowed with "always", or takes one back',
  personal: () => true,
  async run({ actor, words, by }) {
    const now = timestamp(actor.services.clock);
    const all = await actor.services.store.approvals.grants({ user_id: by.user_id });
    const live = all.filter((grant) => grant.revoked === null && (grant.expires === null || grant.expires > now));
    if (words[0] === "revoke") {
      const chosen = live[Number(words[1]) - 1];
      if (chosen === undefined) return `Say which one: /grants revoke 1 to ${live.length}.`;
      await actor.services.store.approvals.revokeGrant(chosen.grant_id, now);
      await actor.services.store.audit.add({
        audit_id: newId(),
        at: now,
        user_id: by.user_id,
        action: "grant.revoked",
        target: chosen.grant_id,
        details: { ws_id: actor.row.ws_id },
      });
      return `Taken back: ${describe(chosen)}.`;
    }
    if (live.length === 0) return 'Nothing was allowed with "always".';
    return live.map((grant, index) => `${index + 1}. ${describe(grant)}`).join("\n");
  },
};

function describe(grant: Grant): string {
  const what =
    grant.match === "tool"
      ? "every call"
      : grant.match === "exact"
        ? `exactly ${grant.pattern}`
        : `what begins with ${grant.pattern}`;
  const where = grant.ws_id === null ? "in all your workstreams" : "in one workstream";
  return `${grant.tool}: ${what}, ${where}${grant.expires === null ? "" : `, until ${grant.expires}`}`;
}
