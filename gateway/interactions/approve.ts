import type { Press } from "../channel_adapter.ts";
import type { ApproveBody } from "../../src/protocol/approval.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import type { Gateway } from "../gateway.ts";
import { plainText } from "../render/defuse.ts";
import { momentText } from "../render/figures.ts";
import type { ServerRefusal } from "../server_request.ts";
import { pressedId, tell, tellRefusal, workstreamOfPress } from "./common.ts";
import { interaction } from "./interaction.ts";

/** The buttons Approve and Deny, for one call or for all that are asked. */
export const approveButtons = interaction({
  parse: (press) => pressedId(press, "button", ["approve", "deny"]),
  async run(gateway, press, { verb, subject, call_id }) {
    await press.acknowledge();
    const approved = verb === "approve";
    await decide(gateway, press, subject, call_id === null ? { approved } : { approved, call_id });
  },
});

/** Settles a cycle. The card changes only because an event says so; this person hears of it where it did not work. */
export async function decide(
  gateway: Gateway,
  press: Press,
  cycle_id: string,
  decision: Omit<ApproveBody, "cycle_id">,
  known_ws_id: string | null = null,
): Promise<boolean> {
  const ws_id =
    known_ws_id === null ? await workstreamOfPress(gateway, press) : { ok: true as const, value: known_ws_id };
  if (!ws_id.ok) {
    await tellRefusal(gateway, press, ws_id);
    return false;
  }
  if (ws_id.value === null) {
    await tell(press, "I do not know any more which conversation this belongs to.");
    return false;
  }
  const answer = await gateway.server.approve(press.person, ws_id.value, { ...decision, cycle_id });
  if (answer.ok) return true;
  if (answer.status === 409) await tell(press, alreadyText(gateway, cycle_id, answer));
  else await tellRefusal(gateway, press, answer);
  return false;
}

/** What a late or double press is told: what was decided, by whom, when. */
function alreadyText(gateway: Gateway, cycle_id: string, refusal: ServerRefusal): string {
  const remembered = gateway.pending.decision(cycle_id);
  if (remembered !== null) return `This is decided already: ${remembered}.`;
  const { approved, decided_by, decided_at } = refusal.body;
  const name = isJsonObject(decided_by) ? decided_by["name"] : null;
  if (typeof approved !== "boolean" || typeof name !== "string") return refusal.error;
  const at = typeof decided_at === "string" ? ` at ${momentText(decided_at)}` : "";
  return `This is already ${approved ? "approved" : "denied"} by **${plainText(name)}**${at}.`;
}
