import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { ApprovalResolvedEvent, ApproveRequestEvent, RiskAssessedEvent } from "../../src/protocol/event.ts";
import { approvalCard, askedItems, decisionText, type CallDecision } from "../render/approval.ts";
import { sayNo, showQuestion } from "./elsewhere.ts";
import { reveal } from "./live_card.ts";
import { turnOf, workstreamOf, type Scene } from "./scene.ts";
import { addTools, cardStateOf, setTool } from "./turn.ts";

/** Asks. Told again after a restart, it finds its card again. */
export async function onApproveRequest(scene: Scene, frame: ChannelFrame, event: ApproveRequestEvent): Promise<void> {
  const turn = turnOf(scene, frame.seq ?? 0);
  addTools(turn, event.items, frame.child_ws_id !== undefined);
  if (!turn.cycles.has(event.cycle_id)) {
    const expires_at = event.expires_at ?? null;
    turn.cycles.set(event.cycle_id, {
      ws_id: workstreamOf(scene, frame),
      elsewhere: null,
      task: frame.parent_call_id === undefined ? null : (turn.tools.get(frame.parent_call_id)?.header ?? ""),
      assessments: new Map(),
      no_opinion: null,
      items: event.items,
      expires_at,
      decisions: new Map(),
    });
  }
  scene.gateway.pending.set(event.cycle_id, event.items);
  turn.state = "attention";
  reveal(scene);
  await showApproval(scene, event.cycle_id);
}

/** Rewrites the card for everyone: what, by whom, when. */
export async function onApprovalResolved(
  scene: Scene,
  frame: ChannelFrame,
  event: ApprovalResolvedEvent,
): Promise<void> {
  const cycle = scene.turn?.cycles.get(event.cycle_id);
  if (scene.turn === null || cycle === undefined) return;
  const at = frame.at ?? new Date(scene.gateway.clock.now()).toISOString();
  for (const call_id of event.call_ids) {
    const approved = event.calls[call_id] ?? event.approved;
    cycle.decisions.set(call_id, decisionOf(event, approved, at));
    if (!approved) setTool(scene.turn, call_id, "", { status: "denied" });
  }
  const said = cycle.decisions.get(event.call_ids[0] ?? "");
  if (said !== undefined) scene.gateway.pending.settle(event.cycle_id, decisionText(said));
  await showApproval(scene, event.cycle_id);
}

/** Puts a second opinion on the card that it is about. */
export async function onRiskAssessed(scene: Scene, event: RiskAssessedEvent): Promise<void> {
  const cycle = scene.turn?.cycles.get(event.cycle_id);
  if (cycle === undefined) return;
  for (const [call_id, assessment] of Object.entries(event.assessments)) cycle.assessments.set(call_id, assessment);
  cycle.no_opinion = event.error ?? null;
  await showApproval(scene, event.cycle_id);
}

/** Shows a card as it stands. Where nobody can be asked, the answer is no. */
export async function showApproval(scene: Scene, cycle_id: string): Promise<void> {
  const cycle = scene.turn?.cycles.get(cycle_id);
  if (scene.turn === null || cycle === undefined) return;
  const { adapter, server } = scene.gateway;
  const asked = scene.turn.asker === null ? null : adapter.mention(scene.turn.asker);
  const view = approvalCard(cardStateOf(cycle_id, cycle, asked));
  const open = askedItems(cycle.items).some((item) => !cycle.decisions.has(item.call_id));
  if (await showQuestion(scene, cycle, `card:${cycle_id}`, view, open)) return;
  await sayNo(scene, `card:${cycle_id}`, () => server.approve(undefined, cycle.ws_id, { approved: false, cycle_id }));
}

function decisionOf(event: ApprovalResolvedEvent, approved: boolean, at: string): CallDecision {
  return {
    approved,
    reason: event.reason ?? "person",
    by: event.decided_by?.name ?? null,
    at,
    feedback: event.feedback,
    always: event.always,
  };
}
