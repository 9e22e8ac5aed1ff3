import type { ApprovalItem, DecidedBy, Grant, SettlementReason } from "../protocol/approval.ts";
import type { AttachmentReference, KeptEvent } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ReplayBlocks, Sender, UsageByModel } from "../protocol/message.ts";
import type { NotificationDelivery, NotificationTarget } from "../protocol/notification.ts";
import type { WorkstreamKind, WorkstreamState } from "../protocol/workstream.ts";
import type { BudgetStore } from "./budget.ts";
import type { ChannelStore, ServiceStore, UserStore } from "./directory.ts";
import type { FileRecord } from "./file_record.ts";
import type { McpSignInStore } from "./mcp_sign_in.ts";

export type { UserRow, TokenRow, UserStore, ChannelStore, ClosingRow, ServiceRow, ServiceStore } from "./directory.ts";

/** A prepared call, kept beside `tool_info` or `approve_request` so that a restart need not prepare it again. */
export interface KeptCall {
  call_id: string;
  name: string;
  /** Absent for a call that is already settled (denied by a rule, not understood): `error` says why. */
  plan?: JsonValue;
  effect: "none" | "side_effect";
  resources: string[];
  /** Over tool, arguments and preview. */
  hash: string;
  needs_approval: boolean;
  /** A rule or a guest's words want a person to decide: no judge's word is enough. */
  person_only?: boolean;
  error?: string;
  denied?: boolean;
  /** What rules and grants are matched against. */
  subject: string;
  approval_label: string;
}

/** What an entry holds for the engine alone; never on the wire. */
export interface PrivateData {
  replay?: ReplayBlocks;
  calls?: KeptCall[];
  files?: FileRecord[];
  expanded_tools?: string[];
  /** With a `tool_result`: what sub-agents of the call used. */
  usage?: UsageByModel;
  /** Text of attachments that the model reads along with a `user_turn`. */
  attached_text?: string;
  /** With a `user_turn` that was said before: the `user_id` of whoever wants it to be done again. */
  retried_by?: string;
  /** With an `info` in an open turn: the `user_id` of whoever wants to be told of its end. */
  tell_when_done?: string;
  /** With a compaction: reading the journal from after this `seq` gives the same conversation as reading all of it. */
  replay_after_seq?: number;
}

/** One line of a journal. `event` is what clients get, word for word. */
export interface JournalEntry {
  ws_id: string;
  /** From 1, without gaps. */
  seq: number;
  at: string;
  event: KeptEvent;
  private?: PrivateData;
}

export interface WorkstreamRow {
  ws_id: string;
  name: string;
  title: string | null;
  alias: string | null;
  kind: WorkstreamKind;
  parent_ws_id: string | null;
  parent_call_id: string | null;
  user_id: string | null;
  state: WorkstreamState;
  /** True from a turn's first entry to its `turn_ended`: what recovery looks for. */
  turn_open: boolean;
  model_alias: string | null;
  auto_approve: boolean;
  auto_approve_tools: string[];
  /** Tokens of the conversation after the last model call. */
  context_tokens: number;
  last_seq: number;
  message_count: number;
  created: string;
  updated: string;
  closed: string | null;
}

/** A message that was accepted; its row answers the same `client_send_id` alike for ever. */
export interface MessageRow {
  msg_id: string;
  ws_id: string;
  client_send_id: string | null;
  state: "queued" | "joined" | "withdrawn";
  /** How its sender was answered. */
  answered: "ok" | "queued";
  content: string;
  attachments: AttachmentReference[];
  sender: Sender | null;
  source: string;
  created: string;
}

export interface ApprovalRow {
  cycle_id: string;
  ws_id: string;
  seq: number;
  items: ApprovalItem[];
  /** What was decided so far. */
  decisions: Record<string, boolean>;
  state: "pending" | "settled";
  approved: boolean | null;
  decided_by: DecidedBy | null;
  reason: SettlementReason | null;
  decided: string | null;
  created: string;
  expires: string | null;
}

export interface ReviewRow {
  review_id: string;
  ws_id: string;
  seq: number;
  call_id: string;
  content: string;
  round: number;
  state: "pending" | "settled";
  feedback: string | null;
  decided_by: DecidedBy | null;
  created: string;
}

export interface UsageRow {
  ws_id: string;
  user_id: string | null;
  model_alias: string;
  at: string;
  prompt_tokens: number;
  completion_tokens: number;
  cache_read_tokens: number;
  cache_creation_tokens: number;
  cost_usd: number | null;
}

/** Row changes that belong to the same transaction as a step's entries. */
export type Change =
  | { kind: "message_accepted"; message: MessageRow }
  | { kind: "message_joined"; msg_id: string }
  | { kind: "message_withdrawn"; msg_id: string }
  | { kind: "approval_opened"; approval: ApprovalRow }
  | {
      kind: "approval_settled";
      cycle_id: string;
      decisions: Record<string, boolean>;
      state: "pending" | "settled";
      approved: boolean;
      decided_by: DecidedBy | null;
      reason: SettlementReason;
      at: string;
    }
  | { kind: "review_opened"; review: ReviewRow }
  | { kind: "review_settled"; review_id: string; feedback: string; decided_by: DecidedBy | null; at: string }
  | { kind: "grant_added"; grant: Grant }
  | { kind: "usage_added"; usage: UsageRow }
  | { kind: "workstream_created"; workstream: WorkstreamRow }
  | {
      kind: "workstream_changed";
      set: Partial<
        Pick<
          WorkstreamRow,
          "name" | "title" | "alias" | "model_alias" | "auto_approve" | "auto_approve_tools" | "closed"
        >
      >;
    };

/** One transaction on one workstream: its entries, its state, and the rows that go with them. */
export interface Step {
  ws_id: string;
  at: string;
  /** Consecutive; the first is the workstream's last `seq` + 1. A gap or a repeat is a broken assumption and throws. */
  entries: readonly JournalEntry[];
  state?: WorkstreamState;
  turn_open?: boolean;
  context_tokens?: number;
  changes?: readonly Change[];
}

/** The journal and what moves with it. Resolved means durable: it outlives a power cut. */
export interface JournalStore {
  /** A function is called once the transaction has begun, so that its step holds whatever came up to then. */
  commit(step: Step | (() => Step)): Promise<void>;
  /** In order. `after` is exclusive; `limit` bounds the count. */
  read(ws_id: string, after: number, limit?: number): Promise<JournalEntry[]>;
  /** The `seq` from which a projection must start: 0, or where the last compaction or the whole turn's beginning is. */
  lastCompaction(ws_id: string): Promise<JournalEntry | null>;
}

export interface WorkstreamStore {
  create(row: WorkstreamRow): Promise<boolean>;
  get(ws_id: string): Promise<WorkstreamRow | null>;
  /** By alias, id, or an id's prefix that only one workstream has. */
  resolve(name: string): Promise<WorkstreamRow | null>;
  /** Newest first; closed ones only when asked for. */
  list(filter: {
    user_id?: string;
    /** Also those where this person is a guest. */
    with_invited?: boolean;
    include_closed?: boolean;
    kinds?: WorkstreamKind[];
    limit: number;
    after?: string;
  }): Promise<WorkstreamRow[]>;
  children(ws_id: string): Promise<WorkstreamRow[]>;
  /** Those whose turn is open, and those with queued messages. */
  unfinished(): Promise<WorkstreamRow[]>;
  /** Open main ones at rest that something was written to since then (ISO 8601), newest first. */
  restingSince(since: string, limit: number): Promise<WorkstreamRow[]>;
  count(): Promise<Record<WorkstreamState, number>>;
  update(
    ws_id: string,
    set: Partial<
      Pick<WorkstreamRow, "name" | "title" | "alias" | "model_alias" | "auto_approve" | "auto_approve_tools" | "closed">
    >,
  ): Promise<void>;
  remove(ws_id: string): Promise<void>;
  /** People who may speak in another's workstream. */
  invite(ws_id: string, user_id: string): Promise<void>;
  isInvited(ws_id: string, user_id: string): Promise<boolean>;
}

export interface MessageQueueStore {
  byClientSendId(ws_id: string, client_send_id: string): Promise<MessageRow | null>;
  get(msg_id: string): Promise<MessageRow | null>;
  queued(ws_id: string): Promise<MessageRow[]>;
}

export interface ApprovalStore {
  get(cycle_id: string): Promise<ApprovalRow | null>;
  /** Oldest first. */
  pending(ws_id: string): Promise<ApprovalRow[]>;
  review(review_id: string): Promise<ReviewRow | null>;
  pendingReviews(ws_id: string): Promise<ReviewRow[]>;
  grants(filter: { ws_id?: string; user_id?: string }): Promise<Grant[]>;
  revokeGrant(grant_id: string, at: string): Promise<boolean>;
}

export interface AttachmentRow extends AttachmentReference {
  ws_id: string;
  user_id: string | null;
  created: string;
}

export interface AttachmentStore {
  save(row: AttachmentRow, bytes: Uint8Array): Promise<void>;
  get(attachment_id: string): Promise<AttachmentRow | null>;
  bytes(attachment_id: string): Promise<Uint8Array | null>;
  list(ws_id: string): Promise<AttachmentRow[]>;
  remove(attachment_id: string): Promise<boolean>;
}

export const MEMORY_SCOPES = ["user", "workspace", "global"] as const;
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

export interface MemoryRow {
  memory_id: string;
  scope: MemoryScope;
  /** A user id, a workspace's real path, or empty for global. */
  owner: string;
  key: string;
  value: string;
  created: string;
  updated: string;
  used: string;
}

/** Whose memories count: always given, so that one person's never show in another's. */
export interface MemoryReach {
  user_id: string | null;
  workspace: string;
}

export interface MemoryStore {
  /** Answers the value that stood there before. */
  save(
    row: Omit<MemoryRow, "memory_id" | "created" | "updated" | "used">,
    at: string,
  ): Promise<{ memory: MemoryRow; previous: string | null }>;
  remove(scope: MemoryScope, owner: string, key: string): Promise<boolean>;
  removeById(memory_id: string, reach: MemoryReach): Promise<boolean>;
  /** Most recently used first. */
  list(reach: MemoryReach, limit: number): Promise<MemoryRow[]>;
  count(reach: MemoryReach): Promise<number>;
  /** Any text is a valid query. Best first. */
  search(reach: MemoryReach, query: string, limit: number): Promise<MemoryRow[]>;
}

export interface ConversationHit {
  ws_id: string;
  name: string;
  seq: number;
  at: string;
  role: "user" | "assistant" | "tool";
  /** With the matches between `**`. */
  snippet: string;
}

export interface SearchStore {
  /** Over conversations of `user_id` alone, without `except_ws_id`. Any text is a valid query. Best first. */
  conversations(filter: {
    user_id: string;
    except_ws_id: string | null;
    query: string;
    limit: number;
  }): Promise<{ hits: ConversationHit[]; total: number }>;
}

/** An outgoing notification: a row before the first attempt, so that a restart neither loses nor doubles it. */
export interface NotificationRow {
  notification_id: string;
  ws_id: string;
  call_id: string | null;
  /** The `seq` of the turn's first entry: the limit counts per turn. */
  turn_seq: number;
  target: NotificationTarget;
  title: string | null;
  message: string;
  state: "sending" | "sent" | "failed";
  deliveries: NotificationDelivery[];
  created: string;
}

export interface NotificationStore {
  /**
   * Takes one of the turn's places, or answers false when `limit` are taken by sent or sending ones. One transaction.
   */
  open(row: NotificationRow, limit: number): Promise<boolean>;
  settle(notification_id: string, state: "sent" | "failed", deliveries: NotificationDelivery[]): Promise<void>;
  get(notification_id: string): Promise<NotificationRow | null>;
}

export interface AuditRow {
  audit_id: string;
  at: string;
  user_id: string | null;
  action: string;
  target: string;
  details: JsonObject;
}

export interface AuditStore {
  add(row: AuditRow): Promise<void>;
  list(filter: { limit: number; before?: string; action?: string; user_id?: string }): Promise<AuditRow[]>;
}

export interface UsageStore {
  /** Sums from `since` on. */
  total(filter: {
    user_id?: string;
    ws_id?: string;
    since: string;
  }): Promise<{ prompt_tokens: number; completion_tokens: number; cost_usd: number }>;
}

/** All that is kept. Everything is asynchronous, so that a database on another machine can stand behind it. */
export interface Store {
  journal: JournalStore;
  workstreams: WorkstreamStore;
  messages: MessageQueueStore;
  approvals: ApprovalStore;
  attachments: AttachmentStore;
  memories: MemoryStore;
  search: SearchStore;
  users: UserStore;
  channels: ChannelStore;
  services: ServiceStore;
  notifications: NotificationStore;
  audit: AuditStore;
  usage: UsageStore;
  budgets: BudgetStore;
  mcp_sign_ins: McpSignInStore;
  /** Copies the whole store into a new file while it is in use. */
  backup(path: string): Promise<void>;
  isDamaged(): boolean;
  /** True when the store can be written to now. */
  check(): Promise<boolean>;
  close(): Promise<void>;
}
