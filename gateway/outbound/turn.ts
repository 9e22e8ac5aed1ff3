import type { ApprovalItem, Assessment } from "../../src/protocol/approval.ts";
import type { StatusEvent } from "../../src/protocol/event.ts";
import type { McpRequest } from "../../src/protocol/mcp_request.ts";
import type { WorkstreamState } from "../../src/protocol/workstream.ts";
import type { ApprovalCardState, CallDecision } from "../render/approval.ts";
import type { LiveCardState, LiveTool } from "../render/live.ts";
import type { McpDecision } from "../render/mcp_request.ts";
import type { PlanDecision } from "../render/plan.ts";
import type { Delivery } from "./delivery.ts";

/** A turn as one place shows it; derived from the events since its beginning. */
export interface Turn {
  /** The `seq` of its first entry. */
  seq: number;
  started_at: string | null;
  /** The platform's id of the person who asked. */
  asker: string | null;
  /** Whether a place beside a DM shows it. */
  asked_here: boolean;
  state: WorkstreamState;
  tools: Map<string, LiveTool>;
  /** By message id. */
  queued: Map<string, { content: string; client_send_id: string | null }>;
  /** The model call whose text comes in. */
  call: { model_call_id: string; text: string } | null;
  /** The last answer that was shown whole, to put the footer under. */
  answer: { shows: string; content: string } | null;
  /** A finished answer whose message still shows less of it. */
  unfinished: { shows: string; content: string } | null;
  status: StatusEvent | null;
  live_shown: boolean;
  /** When the message that is the live card was first shown from here, in milliseconds since the epoch. */
  live_since: number | null;
  cycles: Map<string, Cycle>;
  reviews: Map<string, Review>;
  mcp_requests: Map<string, AskedByServer>;
}

/** Something that waits for a person. */
export interface Question {
  /** The conversation, or the sub-agent, that asks. */
  ws_id: string;
  /** A direct message with the owner that shows it, where its place would not; null for none, as far as is known. */
  elsewhere: Delivery | null;
}

/** A plan of this turn that people look at. It stays after its decision: what is told twice must not open it again. */
export interface Review extends Question {
  content: string;
  round: number;
  decision: PlanDecision | null;
}

/** What an MCP server wants of people in this turn. */
export interface AskedByServer extends Question {
  /** The call that runs at the server. */
  call_id: string;
  server: string;
  request: McpRequest;
  decision: McpDecision | null;
}

/** An approval of this turn. */
export interface Cycle extends Question {
  /** Of a sub-agent's: what the agent asked it to do; null for the agent's own. */
  task: string | null;
  /** A second model's opinion. */
  assessments: Map<string, Assessment>;
  no_opinion: string | null;
  items: readonly ApprovalItem[];
  expires_at: string | null;
  decisions: Map<string, CallDecision>;
}

/** Steps that are remembered of a turn; earlier ones are only counted by the folded card as those that are left. */
const TOOLS_MAX = 500;

export function newTurn(seq: number): Turn {
  return {
    seq,
    started_at: null,
    asker: null,
    asked_here: false,
    state: "thinking",
    tools: new Map(),
    queued: new Map(),
    call: null,
    answer: null,
    unfinished: null,
    status: null,
    live_shown: false,
    live_since: null,
    cycles: new Map(),
    reviews: new Map(),
    mcp_requests: new Map(),
  };
}

/** Enters calls that are about to run or to be asked for. */
export function addTools(turn: Turn, items: readonly ApprovalItem[], nested: boolean): void {
  for (const { call_id, header, error } of items) {
    if (turn.tools.has(call_id) || turn.tools.size >= TOOLS_MAX) continue;
    turn.tools.set(call_id, { call_id, header, status: error === null ? "waiting" : "failed", last_line: "", nested });
  }
}

/** Changes one step. */
export function setTool(turn: Turn, call_id: string, name: string, change: Partial<LiveTool>): void {
  const before = turn.tools.get(call_id);
  if (before === undefined && turn.tools.size >= TOOLS_MAX) return;
  turn.tools.set(call_id, {
    ...(before ?? { call_id, header: name, status: "running", last_line: "", nested: false }),
    ...change,
  });
}

export function liveStateOf(turn: Turn): LiveCardState {
  return {
    turn_seq: turn.seq,
    state: turn.state,
    started_at: turn.started_at,
    tools: [...turn.tools.values()],
    queued: [...turn.queued].map(([msg_id, { content }]) => ({ msg_id, content })),
  };
}

export function cardStateOf(cycle_id: string, cycle: Cycle, asked: string | null): ApprovalCardState {
  const { items, expires_at, decisions, task, assessments, no_opinion } = cycle;
  return { cycle_id, items, expires_at, decisions, asked, task, assessments, no_opinion };
}
