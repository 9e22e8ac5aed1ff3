import type { ApprovalItem, Assessment, DecidedBy, SettlementReason } from "./approval.ts";
import type { McpAction, McpRequest } from "./mcp_request.ts";
import type { NotificationDelivery, NotificationTarget } from "./notification.ts";
import type { Sender, StopReason, ToolCall, Usage } from "./message.ts";
import type { TurnOutcome, WorkstreamState } from "./workstream.ts";

/** An attachment as an event names it. */
export interface AttachmentReference {
  attachment_id: string;
  filename: string;
  media_type: string;
  /** Bytes. */
  size: number;
  /** Where it was saved, relative to the workspace; absent for pictures and text given inline. */
  path?: string;
  width?: number;
  height?: number;
}

/** What a tool did to the world. `unknown`: it had started and nobody saw it end. */
export const EFFECTS = ["none", "done", "unknown"] as const;
export type Effect = (typeof EFFECTS)[number];

export interface UserTurnEvent {
  type: "user_turn";
  content: string;
  attachments?: AttachmentReference[];
  sender?: Sender;
  /** Where it came from, such as `discord`, `api`, `chat`. */
  source?: string;
  client_send_ids: string[];
}

export interface AssistantEvent {
  type: "assistant";
  content: string;
  reasoning?: string;
  tool_calls: ToolCall[];
  usage: Usage;
  stop_reason: StopReason;
  /** `<seq of the turn's first user_turn>.<n>`: the same for a call that a crash made us repeat. */
  model_call_id: string;
  /** The model that answered, by its alias. */
  model_alias: string;
}

export interface ToolInfoEvent {
  type: "tool_info";
  items: ApprovalItem[];
}

export interface ApproveRequestEvent {
  type: "approve_request";
  cycle_id: string;
  items: ApprovalItem[];
  expires_at?: string;
}

export interface ApprovalResolvedEvent {
  type: "approval_resolved";
  cycle_id: string;
  /** The calls that this settlement decided; a cycle is over when each of its asked calls is. */
  call_ids: string[];
  approved: boolean;
  calls: Record<string, boolean>;
  feedback: string | null;
  always: boolean;
  decided_by: DecidedBy | null;
  reason?: SettlementReason;
}

export interface ToolStartedEvent {
  type: "tool_started";
  call_id: string;
  name: string;
}

export interface ToolResultEvent {
  type: "tool_result";
  call_id: string;
  name: string;
  /** The text that the model got. */
  output: string;
  is_error: boolean;
  denied?: boolean;
  effect?: Effect;
  /** A shorter text for people. */
  display?: string;
  /** Pictures that the model gets along with the text. */
  images?: AttachmentReference[];
}

export interface PlanReviewEvent {
  type: "plan_review";
  review_id: string;
  call_id: string;
  content: string;
  /** 1 for the first draft. */
  round: number;
}

export interface PlanResolvedEvent {
  type: "plan_resolved";
  review_id: string;
  feedback: string;
  decided_by: DecidedBy | null;
  reason?: SettlementReason;
}

/** An MCP server wants something of people; it waits until that is resolved or its call has a result. */
export interface McpRequestEvent {
  type: "mcp_request";
  request_id: string;
  /** The call that runs at the server. */
  call_id: string;
  server: string;
  request: McpRequest;
}

/** What people filled in stays between them and the server. */
export interface McpRequestResolvedEvent {
  type: "mcp_request_resolved";
  request_id: string;
  action: McpAction;
  decided_by: DecidedBy | null;
  reason: SettlementReason;
}

export interface NotificationEvent {
  type: "notification";
  notification_id: string;
  target: NotificationTarget;
  title?: string;
  message: string;
  deliveries: NotificationDelivery[];
}

export interface StatusEvent {
  type: "status";
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  context_window: number;
  /** Of the context window, in percent with one decimal. */
  pct: number;
  effort: string;
  cache_creation_tokens?: number;
  cache_read_tokens?: number;
  cost_usd?: number;
  model_alias: string;
  /** As its provider names it; absent in what was kept before this was told. */
  model?: string;
  /** From the turn's first entry to its end, in milliseconds. */
  duration_ms: number;
}

export interface CompactionEvent {
  type: "compaction";
  before_tokens: number;
  after_tokens: number;
  summary: string;
  /** The conversation goes on from the summary and from the entries after this `seq`. */
  kept_after_seq: number;
}

/** What a second model says about calls that wait for a person. */
export interface RiskAssessedEvent {
  type: "risk_assessed";
  cycle_id: string;
  model_alias: string;
  /** By call; a call that it did not speak of is not in it. */
  assessments: Record<string, Assessment>;
  /** Why there are none. */
  error?: string;
}

export interface InfoEvent {
  type: "info";
  message: string;
}

export interface ErrorEvent {
  type: "error";
  message: string;
  code: string;
  retry_at?: string;
  /** With the code `budget_used_up`: whose, of which day (UTC), and the number that an extension would have. */
  budget?: { user_id: string; day: string; extension: number };
}

export interface TurnEndedEvent {
  type: "turn_ended";
  outcome: TurnOutcome;
}

/** The turns after `kept_after_seq` are taken out of the conversation; what they did stays done. */
export interface RewoundEvent {
  type: "rewound";
  kept_after_seq: number;
  turns: number;
}

/** Entries of the journal: kept, numbered, replayed. */
export type KeptEvent =
  | UserTurnEvent
  | AssistantEvent
  | ToolInfoEvent
  | ApproveRequestEvent
  | ApprovalResolvedEvent
  | RiskAssessedEvent
  | ToolStartedEvent
  | ToolResultEvent
  | PlanReviewEvent
  | PlanResolvedEvent
  | McpRequestEvent
  | McpRequestResolvedEvent
  | NotificationEvent
  | StatusEvent
  | CompactionEvent
  | InfoEvent
  | ErrorEvent
  | TurnEndedEvent
  | RewoundEvent;

/** A message waits for the running turn; told again to whoever connects while it waits. */
export interface MessageQueuedEvent {
  type: "message_queued";
  msg_id: string;
  client_send_id?: string;
  content: string;
}

/** Broadcast and forgotten: the entry that ends them carries the whole. */
export type EphemeralEvent =
  | { type: "connected"; model: string; model_alias: string; skip_permissions: boolean }
  | { type: "state_change"; state: WorkstreamState }
  | { type: "ws_state"; ws_id: string; state: WorkstreamState; tokens?: number; context_ratio?: number }
  | { type: "in_progress_snapshot"; content: string; reasoning: string; model_call_id: string }
  | { type: "thinking_start"; model_call_id: string; model_alias: string }
  | { type: "thinking_stop" }
  | { type: "reasoning"; text: string }
  | { type: "content"; text: string }
  | { type: "stream_end" }
  | { type: "stream_restart"; message: string }
  | { type: "tool_output_chunk"; call_id: string; chunk: string }
  | MessageQueuedEvent
  | { type: "message_withdrawn"; msg_id: string }
  | { type: "cancelled" }
  | { type: "resync"; cursor: number };

/** Of the global stream only. */
export type GlobalEvent =
  | { type: "ws_state"; ws_id: string; state: WorkstreamState; tokens?: number; context_ratio?: number }
  | { type: "ws_activity"; ws_id: string; activity: string; activity_state: "tool" | "approval" | "thinking" | "" }
  | { type: "ws_rename"; ws_id: string; name: string }
  | {
      type: "ws_created";
      ws_id: string;
      name: string;
      kind: string;
      parent_ws_id: string | null;
      user_id: string | null;
    }
  | { type: "ws_closed"; ws_id: string; name: string; reason: string };

export type Event = KeptEvent | EphemeralEvent | GlobalEvent;

/** The one table that decides what is an entry of the journal. */
export const KEPT_EVENT_TYPES = {
  user_turn: true,
  assistant: true,
  tool_info: true,
  approve_request: true,
  approval_resolved: true,
  risk_assessed: true,
  tool_started: true,
  tool_result: true,
  plan_review: true,
  plan_resolved: true,
  mcp_request: true,
  mcp_request_resolved: true,
  notification: true,
  status: true,
  compaction: true,
  info: true,
  error: true,
  turn_ended: true,
  rewound: true,
} as const satisfies Record<KeptEvent["type"], true>;

/** A step of a sub-agent, as its parent's stream shows it: without an id, with the child's `ws_id`. */
export interface ChildFrame {
  ws_id: string;
  parent_call_id: string;
}
