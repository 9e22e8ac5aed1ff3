import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type {
  ApprovalResolvedEvent,
  ApproveRequestEvent,
  McpRequestEvent,
  McpRequestResolvedEvent,
  PlanResolvedEvent,
  PlanReviewEvent,
  RiskAssessedEvent,
  ToolResultEvent,
} from "../../src/protocol/event.ts";
import type { WorkstreamState } from "../../src/protocol/workstream.ts";
import { growAnswer, onAnswerPiece, onAssistant } from "./answer.ts";
import { onApprovalResolved, onApproveRequest, onRiskAssessed } from "./approvals.ts";
import { onAside, onError } from "./asides.ts";
import { onTurnEnded } from "./ending.ts";
import { onClosed, onRenamed } from "./lifecycle.ts";
import { onQueue, onToolInfo, onToolOutput, onToolResult, onToolStarted, showLive } from "./live_card.ts";
import { endMcpRequests, onMcpRequest, onMcpRequestResolved } from "./mcp_requests.ts";
import { onUserTurn } from "./question.ts";
import { onPlanResolved, onPlanReview } from "./reviews.ts";
import type { Scene } from "./scene.ts";

/** Shows one event. Each kind has its unit; what a person sees of it is decided there alone. */
export async function present(scene: Scene, frame: ChannelFrame): Promise<void> {
  const { event } = frame;
  const seq = frame.seq ?? 0;
  if (isForeign(scene, frame)) return;
  switch (event.type) {
    case "user_turn":
      return frame.child_ws_id === undefined ? onUserTurn(scene, seq, frame.at, event) : undefined;
    case "assistant":
      return frame.child_ws_id === undefined ? onAssistant(scene, event) : undefined;
    case "thinking_start":
    case "in_progress_snapshot":
    case "content":
    case "stream_restart":
      return frame.child_ws_id === undefined ? onAnswerPiece(scene, event) : undefined;
    case "tool_info":
      return onToolInfo(scene, frame, event);
    case "tool_started":
      return onToolStarted(scene, frame, event);
    case "tool_output_chunk":
      return onToolOutput(scene, event);
    case "tool_result":
      return onCallEnded(scene, frame, event);
    case "approve_request":
    case "approval_resolved":
    case "risk_assessed":
    case "plan_review":
    case "plan_resolved":
    case "mcp_request":
    case "mcp_request_resolved":
      return presentQuestion(scene, frame, event);
    case "message_queued":
    case "message_withdrawn":
      return onQueue(scene, event);
    case "status":
      if (frame.child_ws_id === undefined && scene.turn !== null) scene.turn.status = event;
      return;
    case "error":
      return frame.child_ws_id === undefined ? onError(scene, seq, event) : undefined;
    case "info":
    case "compaction":
    case "rewound":
      return frame.child_ws_id === undefined ? onAside(scene, seq, event) : undefined;
    case "turn_ended":
      return frame.child_ws_id === undefined ? onTurnEnded(scene, seq, frame.at, event) : undefined;
    case "state_change":
      return frame.child_ws_id === undefined ? onStateChange(scene, event.state) : undefined;
    case "ws_rename":
      return onRenamed(scene, event.name);
    case "ws_closed":
      return onClosed(scene, frame, event.reason);
    // Shown where it arrives: the receipt is one of the steps on the card.
    case "notification":
    case "connected":
    case "ws_state":
    case "ws_activity":
    case "ws_created":
    case "thinking_stop":
    case "reasoning":
    case "stream_end":
    case "cancelled":
    case "resync":
      return;
    default:
      return event satisfies never;
  }
}

type QuestionEvent =
  | ApproveRequestEvent
  | ApprovalResolvedEvent
  | RiskAssessedEvent
  | PlanReviewEvent
  | PlanResolvedEvent
  | McpRequestEvent
  | McpRequestResolvedEvent;

/** What people are asked, and how that ended. */
function presentQuestion(scene: Scene, frame: ChannelFrame, event: QuestionEvent): Promise<void> {
  switch (event.type) {
    case "approve_request":
      return onApproveRequest(scene, frame, event);
    case "approval_resolved":
      return onApprovalResolved(scene, frame, event);
    case "risk_assessed":
      return onRiskAssessed(scene, event);
    case "plan_review":
      return onPlanReview(scene, frame, event);
    case "plan_resolved":
      return onPlanResolved(scene, frame, event);
    case "mcp_request":
      return onMcpRequest(scene, frame, event);
    case "mcp_request_resolved":
      return onMcpRequestResolved(scene, frame, event);
  }
}

function onCallEnded(scene: Scene, frame: ChannelFrame, event: ToolResultEvent): Promise<void> {
  onToolResult(scene, frame, event);
  return endMcpRequests(scene, event);
}

function onStateChange(scene: Scene, state: WorkstreamState): void {
  if (scene.turn === null) return;
  scene.turn.state = state;
  scene.dirty.live = scene.turn.live_shown;
}

/** Shows what has changed since the last edit, the answer before the card. */
export async function presentProgress(scene: Scene): Promise<void> {
  const { answer, live } = scene.dirty;
  scene.dirty = { answer: false, live: answer && live };
  if (answer) await growAnswer(scene);
  else if (live) await showLive(scene);
}

/** A place beside a DM shows the turns that were asked for in it, and nothing else (NTFY-24). */
function isForeign(scene: Scene, { event }: ChannelFrame): boolean {
  if (scene.kind !== "beside" || event.type === "user_turn") return false;
  return scene.turn === null || !scene.turn.asked_here;
}
