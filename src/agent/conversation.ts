import type { JournalEntry, KeptCall } from "../contracts/store.ts";
import type { FileRecord } from "../contracts/tool.ts";
import type { ApprovalItem, DecidedBy, SettlementReason } from "../protocol/approval.ts";
import type {
  McpRequestEvent,
  McpRequestResolvedEvent,
  PlanResolvedEvent,
  PlanReviewEvent,
  ToolResultEvent,
} from "../protocol/event.ts";
import type { Message, ToolCall, Usage, UserMessage } from "../protocol/message.ts";
import type { TurnOutcome } from "../protocol/workstream.ts";

/** What was decided about one asked call. */
export interface Decision {
  approved: boolean;
  feedback: string | null;
  decided_by: DecidedBy | null;
  reason: SettlementReason | null;
  decided_at: string;
}

/** A prepared batch: what `tool_info` or `approve_request` announced. */
export interface Batch {
  /** The entry that announced it. */
  entry: JournalEntry;
  /** Null when nothing was asked. */
  cycle_id: string | null;
  /** When what is undecided counts as denied; null for never. */
  expires_at: string | null;
  items: ApprovalItem[];
  calls: KeptCall[];
  decisions: Map<string, Decision>;
  /** A second model was asked about it. */
  assessed: boolean;
}

/** What one call brought, and how often in a row. */
export interface Repeat {
  output: string;
  count: number;
}

/** Where an open turn stands. */
export interface TurnProgress {
  /** `seq` of the turn's first `user_turn`. */
  turn_seq: number;
  started_at: string;
  /** `assistant` entries so far. */
  model_calls: number;
  /** Calls of the last `assistant` that have no result yet, in the order asked; empty when all have. */
  open_calls: ToolCall[];
  batch: Batch | null;
  /** `seq` of each call's `tool_started`. */
  started: Map<string, number>;
  results: Map<string, ToolResultEvent>;
  /** What the turn used: its last model call, and all of them together by model; null before the first. */
  usage: { last: Usage; by_model: Map<string, Usage>; model_alias: string } | null;
  /** The last entry was an `assistant` that asked for nothing, with this stop reason. */
  answered: string | null;
  /** What calls without effect brought since something changed. */
  repeats: Map<string, Repeat>;
  /** The `user_id` of each person who asked to be told of its end. */
  asked_by: Set<string>;
  /** The `user_id` of each person whose words are part of it. */
  speakers: Set<string>;
}

/**
 * What a journal means: the conversation that a model is shown, and where the open turn stands. It is only ever
 * changed by applying the next entry, so that a restart arrives at the same state by reading.
 */
export interface Conversation {
  ws_id: string;
  last_seq: number;
  messages: Message[];
  /** `seq` of the entry behind each message. */
  message_seqs: number[];
  turn: TurnProgress | null;
  /** The newest message of a person: no compaction takes it away. Null before the first. */
  last_request: { seq: number; message: UserMessage } | null;
  /** The first message is a summary of what a compaction took away. */
  summarised: boolean;
  /** Where each turn began, for rewinding; those that were summarised are out of reach. */
  turn_starts: number[];
  files: Map<string, FileRecord>;
  expanded_tools: Set<string>;
  /** Tokens of the whole prompt as the provider last counted them, and the number of messages it counted. */
  counted: { tokens: number; messages: number };
  /** Plan reviews without an answer: the entries that asked. */
  open_reviews: Map<string, JournalEntry & { event: PlanReviewEvent }>;
  /** Answers of the open turn's reviews, by `<call_id>:<round>`. */
  settled_reviews: Map<string, PlanResolvedEvent>;
  /** What MCP servers want of people: the entries that ask. Each ends with its answer, or with its call. */
  open_mcp_requests: Map<string, JournalEntry & { event: McpRequestEvent }>;
  /** Answers to those of the open turn. */
  settled_mcp_requests: Map<string, McpRequestResolvedEvent>;
  call_ids: Set<string>;
  tool_calls: number;
  /** Whether the last turn, when it has ended well, is followed by the search for a title, if there is none yet. */
  title_due: boolean;
  /** What its model calls used, by the alias of the model; those that a compaction took out of reach are not in it. */
  spent: Map<string, Usage>;
  ended: EndedTurn | null;
}

/** The turn that ended last. */
export interface EndedTurn {
  seq: number;
  /** ISO 8601. */
  at: string;
  outcome: TurnOutcome;
  duration_ms: number;
  /** Who wants a DM about it. */
  asked_by: Set<string>;
  /** Whom this process has told. */
  told: Set<string>;
}

/** Turns after which a workstream without a title is named; a model that has given none by then gives none. */
export const TITLE_TURNS_MAX = 5;

/** A conversation in which nothing has happened. */
export function emptyConversation(ws_id: string): Conversation {
  return {
    ws_id,
    last_seq: 0,
    messages: [],
    message_seqs: [],
    turn: null,
    last_request: null,
    summarised: false,
    turn_starts: [],
    files: new Map(),
    expanded_tools: new Set(),
    counted: { tokens: 0, messages: 0 },
    open_reviews: new Map(),
    settled_reviews: new Map(),
    open_mcp_requests: new Map(),
    settled_mcp_requests: new Map(),
    call_ids: new Set(),
    tool_calls: 0,
    title_due: false,
    spent: new Map(),
    ended: null,
  };
}
