import type { ApprovalItem, DecidedBy, GrantScope } from "../protocol/approval.ts";
import type { AttachmentReference, ChildFrame, EphemeralEvent, GlobalEvent, KeptEvent } from "../protocol/event.ts";
import type { McpRequestBody, OpenMcpRequest } from "../protocol/mcp_request.ts";
import type { Sender } from "../protocol/message.ts";
import type { CancelAnswer, SendAnswer, WorkstreamKind, WorkstreamState } from "../protocol/workstream.ts";
import type { WorkstreamRow } from "./store.ts";

/** One event on its way to readers. It is serialised once, whoever reads it. */
export interface Frame {
  ws_id: string;
  /** Of a kept event; null for an ephemeral one. */
  seq: number | null;
  /** When a kept event happened. */
  at: string | null;
  event: KeptEvent | EphemeralEvent;
  /** Set on a sub-agent's step that is shown on its parent's stream; `ws_id` is then the parent's and `seq` null. */
  child: ChildFrame | null;
  /** The whole SSE frame. Computed at the first call, then the same buffer for every reader. */
  bytes(): Buffer;
}

export interface GlobalFrame {
  ws_id: string;
  event: GlobalEvent;
  bytes(): Buffer;
}

export type Unsubscribe = () => void;

/** What is said to whom, now. Readers are called at once and must not block; they never miss or reorder a frame. */
export interface EventBus {
  /** Frames of one workstream, and what is told to this person alone. */
  subscribe(ws_id: string, reader: (frame: Frame) => void, user_id?: string | null): Unsubscribe;
  /** Frames of all workstreams, for channel streams. */
  subscribeAll(reader: (frame: Frame) => void): Unsubscribe;
  subscribeGlobal(reader: (frame: GlobalFrame) => void): Unsubscribe;
  /** Makes a frame of a stored entry: the same bytes as when it was live. */
  replayFrame(entry: { ws_id: string; seq: number; at: string; event: KeptEvent }): Frame;
  /** Makes a frame that only one reader gets, such as `connected`. */
  ephemeralFrame(ws_id: string, event: EphemeralEvent, child?: ChildFrame): Frame;
  /** A sub-agent's event as its parent's readers see it; `at` where it is not of now. */
  childFrame(parent_ws_id: string, event: KeptEvent | EphemeralEvent, child: ChildFrame, at?: string | null): Frame;
}

export interface CreateRequest {
  ws_id?: string;
  name?: string;
  model_alias?: string;
  auto_approve?: boolean;
  auto_approve_tools?: string[];
  /** Alias, id or unique prefix of a workstream that is opened again. */
  resume_ws?: string;
  user_id: string | null;
}

export type CreateResult =
  | { ok: true; workstream: WorkstreamRow; resumed: boolean; message_count: number }
  | { ok: false; reason: "unknown_model" | "unknown_workstream" | "taken"; error: string };

export interface IncomingMessage {
  content: string;
  client_send_id: string | null;
  attachments: AttachmentReference[];
  sender: Sender | null;
  source: string;
}

export interface ApproveRequest {
  approved: boolean;
  feedback: string | null;
  always: boolean;
  scope: GrantScope | null;
  cycle_id: string | null;
  call_id: string | null;
  calls: Record<string, boolean> | null;
  /** Null: a gateway says no, since it can ask nobody. */
  decided_by: DecidedBy | null;
}

export type ApproveResult =
  | { ok: true; cycle_id: string }
  | { ok: false; reason: "nothing_pending"; error: string }
  | {
      ok: false;
      reason: "settled";
      error: string;
      cycle_id: string;
      approved: boolean;
      decided_by: DecidedBy | null;
      decided_at: string | null;
    }
  /** A call or scope that does not belong to the cycle. */
  | { ok: false; reason: "invalid"; error: string };

export type PlanResult =
  | { ok: true; review_id: string }
  | { ok: false; reason: "nothing_pending" | "settled"; error: string; decided_by: DecidedBy | null };

export type McpRequestResult =
  /** Not `done`: the server gets nothing yet, since more follows or required fields, `missing`, have no value. */
  | { ok: true; request_id: string; done: boolean; missing: string[] }
  | { ok: false; reason: "nothing_pending"; error: string }
  | { ok: false; reason: "settled"; error: string; decided_by: DecidedBy | null }
  /** A value that its field does not take. */
  | { ok: false; reason: "invalid"; error: string };

/** What a stream starts with, besides what is replayed. */
export interface LiveSnapshot {
  state: WorkstreamState;
  model: string;
  model_alias: string;
  skip_permissions: boolean;
  /** The running model call's text so far; null when none runs. */
  in_progress: { content: string; reasoning: string; model_call_id: string } | null;
  /** What waits for a person, own and sub-agents'. */
  pending: Frame[];
  /** Calls of the open turn that have no result yet. */
  open_call_ids: string[];
  last_seq: number;
}

export interface DashboardRow {
  ws_id: string;
  name: string;
  title: string | null;
  state: WorkstreamState;
  kind: WorkstreamKind;
  parent_ws_id: string | null;
  user_id: string | null;
  tokens: number;
  context_ratio: number;
  activity: string;
  activity_state: "tool" | "approval" | "thinking" | "";
  tool_calls: number;
  model: string;
  model_alias: string;
  queued: number;
}

export type EngineFailure = { ok: false; reason: "unknown" | "closed" | "busy" | "invalid"; error: string };

/**
 * Everything that can be done to workstreams. Rights have been checked by the caller. Each answer is durable when it
 * is given. An unknown `ws_id` answers null where the result says so.
 */
export interface Engine {
  readonly bus: EventBus;
  create(request: CreateRequest): Promise<CreateResult>;
  send(ws_id: string, message: IncomingMessage): Promise<SendAnswer | EngineFailure>;
  /** Takes a queued message back. */
  withdraw(ws_id: string, msg_id: string): Promise<"withdrawn" | "joined" | "unknown">;
  approve(ws_id: string, request: ApproveRequest): Promise<ApproveResult>;
  /** Who is asked for what; oldest first. */
  pendingApprovals(ws_id: string): Promise<{ cycle_id: string; items: ApprovalItem[] }[]>;
  plan(
    ws_id: string,
    request: { feedback: string; review_id: string | null; decided_by: DecidedBy | null },
  ): Promise<PlanResult>;
  /** What an MCP server waits for here or in a sub-agent; null when it does not wait any more. */
  mcpRequest(ws_id: string, request_id: string): Promise<OpenMcpRequest | null>;
  answerMcpRequest(
    ws_id: string,
    request_id: string,
    answer: McpRequestBody & { decided_by: DecidedBy | null },
  ): Promise<McpRequestResult>;
  /** A person has signed in to an MCP server: calls of theirs that wait for that go on. */
  signedIn(server: string, by: DecidedBy): Promise<void>;
  cancel(ws_id: string, force: boolean): Promise<CancelAnswer | EngineFailure>;
  /** Takes the last `turns` turns out of the conversation. Not while a turn runs. */
  rewind(ws_id: string, turns: number): Promise<{ ok: true; turns: number } | EngineFailure>;
  /** Runs the last turn again from its message. */
  retry(ws_id: string, by: DecidedBy): Promise<{ ok: true } | EngineFailure>;
  close(ws_id: string, reason: string): Promise<{ ok: true } | EngineFailure>;
  remove(ws_id: string): Promise<{ ok: true } | EngineFailure>;
  /** A slash command; its output comes as `info` events. */
  command(ws_id: string, command: string, by: DecidedBy): Promise<{ ok: true; output: string } | EngineFailure>;
  snapshot(ws_id: string): Promise<LiveSnapshot | null>;
  dashboard(filter: { user_id?: string }): Promise<DashboardRow[]>;
  /** Model back ends as calls and probes saw them. */
  backend(): { status: "up" | "down"; circuit_state: "closed" | "open" | "half_open" };
  /** Carries on every unfinished turn. */
  recover(): Promise<void>;
  /** Stops taking work, gives running calls `grace_ms`, then leaves the rest to the next start. */
  stop(grace_ms: number): Promise<void>;
}
