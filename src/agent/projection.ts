import type { JournalEntry } from "../contracts/store.ts";
import { visibleLine } from "../lib/visible.ts";
import type {
  ApprovalResolvedEvent,
  AttachmentReference,
  CompactionEvent,
  McpRequestResolvedEvent,
  PlanResolvedEvent,
  ToolResultEvent,
  UserTurnEvent,
} from "../protocol/event.ts";
import type { ContentPart, Message, ToolCall, Usage, UserMessage } from "../protocol/message.ts";
import { countRepeat } from "./repeats.ts";
import { speakerName, withoutForgedNames } from "./speakers.ts";
import type { TurnOutcome } from "../protocol/workstream.ts";
import { type Batch, type Conversation, TITLE_TURNS_MAX, type TurnProgress } from "./conversation.ts";

/** Takes the next entry in. Entries come in order, without gaps. */
export function applyEntry(conversation: Conversation, entry: JournalEntry): void {
  conversation.last_seq = entry.seq;
  const { event } = entry;
  switch (event.type) {
    case "user_turn":
      applyUserTurn(conversation, entry, event);
      return;
    case "assistant":
      applyAssistant(conversation, entry);
      return;
    case "tool_info":
      openBatch(conversation, entry, { cycle_id: null, expires_at: null, items: event.items });
      return;
    case "approve_request":
      openBatch(conversation, entry, {
        cycle_id: event.cycle_id,
        expires_at: event.expires_at ?? null,
        items: event.items,
      });
      return;
    case "approval_resolved":
      applyResolution(conversation, event, entry.at);
      return;
    case "tool_started":
      conversation.turn?.started.set(event.call_id, entry.seq);
      return;
    case "tool_result":
      applyResult(conversation, entry, event);
      return;
    case "plan_review":
      conversation.open_reviews.set(event.review_id, { ...entry, event });
      return;
    case "risk_assessed":
      if (conversation.turn?.batch?.cycle_id === event.cycle_id) conversation.turn.batch.assessed = true;
      return;
    case "plan_resolved":
      applyReviewAnswer(conversation, event);
      return;
    case "mcp_request":
      conversation.open_mcp_requests.set(event.request_id, { ...entry, event });
      return;
    case "mcp_request_resolved":
      applyMcpAnswer(conversation, event);
      return;
    case "compaction":
      applyCompaction(conversation, entry, event);
      return;
    case "rewound":
      dropAfter(conversation, event.kept_after_seq);
      return;
    case "turn_ended":
      conversation.ended = endOf(conversation.turn, entry, event.outcome);
      conversation.turn = null;
      conversation.title_due &&= event.outcome === "done";
      forgetQuestions(conversation);
      return;
    case "info":
      if (entry.private?.tell_when_done !== undefined) {
        // Whoever asked while the end was being written still gets the notice of it.
        (conversation.turn ?? conversation.ended)?.asked_by.add(entry.private.tell_when_done);
      }
      return;
    case "notification":
    case "status":
    case "error":
      return;
  }
}

function forgetQuestions(conversation: Conversation): void {
  conversation.open_reviews.clear();
  conversation.settled_reviews.clear();
  conversation.open_mcp_requests.clear();
  conversation.settled_mcp_requests.clear();
}

function endOf(turn: TurnProgress | null, { seq, at }: JournalEntry, outcome: TurnOutcome): Conversation["ended"] {
  if (turn === null) return null;
  const duration_ms = Date.parse(at) - Date.parse(turn.started_at);
  return { seq, at, outcome, duration_ms, asked_by: turn.asked_by, told: new Set() };
}

function push(conversation: Conversation, seq: number, message: Message): void {
  conversation.messages.push(message);
  conversation.message_seqs.push(seq);
}

function applyUserTurn(conversation: Conversation, entry: JournalEntry, event: UserTurnEvent): void {
  if (conversation.turn === null) {
    conversation.turn = {
      turn_seq: entry.seq,
      started_at: entry.at,
      model_calls: 0,
      open_calls: [],
      batch: null,
      started: new Map(),
      results: new Map(),
      usage: null,
      answered: null,
      repeats: new Map(),
      asked_by: new Set(),
      speakers: new Set(),
    };
    conversation.turn_starts.push(entry.seq);
    conversation.title_due = conversation.turn_starts.length <= TITLE_TURNS_MAX;
  } else {
    conversation.turn.answered = null;
  }
  const { attached_text, retried_by } = entry.private ?? {};
  for (const user_id of [event.sender?.user_id, retried_by]) {
    if (user_id !== undefined) conversation.turn.speakers.add(user_id);
  }
  const text = [event.content, attached_text].filter(Boolean).join("\n\n");
  const message: UserMessage = {
    role: "user",
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...(event.attachments ?? []).map(attachmentPart),
    ],
    ...(event.sender === undefined ? {} : { sender: event.sender }),
  };
  push(conversation, entry.seq, message);
  if (event.source !== "server") conversation.last_request = { seq: entry.seq, message };
}

/** A picture becomes a picture, a file that lies in the workspace is named. */
export function attachmentPart(attachment: AttachmentReference): ContentPart {
  const { attachment_id, media_type, filename, size } = attachment;
  if (attachment.path !== undefined) {
    return { type: "file", attachment_id, media_type, filename, size, path: attachment.path };
  }
  if (!media_type.startsWith("image/")) {
    return { type: "text", text: `[Attached: ${visibleLine(filename)}, ${media_type}, ${size} bytes]` };
  }
  const { width, height } = attachment;
  return {
    type: "image",
    attachment_id,
    media_type,
    filename,
    size,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
}

function applyAssistant(conversation: Conversation, entry: JournalEntry): void {
  const { event } = entry;
  const { turn } = conversation;
  if (event.type !== "assistant") throw new Error("applyAssistant takes assistant entries only.");
  const replay = entry.private?.replay;
  push(conversation, entry.seq, {
    role: "assistant",
    content: event.content,
    ...(event.reasoning === undefined ? {} : { reasoning: event.reasoning }),
    tool_calls: event.tool_calls,
    ...(replay === undefined ? {} : { replay }),
  });
  for (const call of event.tool_calls) conversation.call_ids.add(call.id);
  for (const name of entry.private?.expanded_tools ?? []) conversation.expanded_tools.add(name);
  conversation.tool_calls += event.tool_calls.length;
  conversation.counted = { tokens: event.usage.total_tokens, messages: conversation.messages.length };
  const { usage, model_alias } = event;
  const counts = event.stop_reason !== "cancelled";
  if (counts) addUsage(conversation.spent, model_alias, usage);
  if (turn === null) return;
  turn.model_calls += 1;
  if (counts) {
    const by_model = turn.usage?.by_model ?? new Map<string, Usage>();
    addUsage(by_model, model_alias, usage);
    turn.usage = { last: usage, by_model, model_alias };
  }
  turn.open_calls = event.tool_calls;
  turn.batch = null;
  turn.started = new Map();
  turn.results = new Map();
  turn.answered = event.tool_calls.length === 0 ? event.stop_reason : null;
}

function addUsage(by_model: Map<string, Usage>, model_alias: string, usage: Usage): void {
  const before = by_model.get(model_alias);
  by_model.set(model_alias, before === undefined ? usage : sumOf(before, usage));
}

function sumOf(one: Usage, other: Usage): Usage {
  return {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
    cache_creation_tokens: (one.cache_creation_tokens ?? 0) + (other.cache_creation_tokens ?? 0),
    cache_read_tokens: (one.cache_read_tokens ?? 0) + (other.cache_read_tokens ?? 0),
  };
}

function openBatch(
  conversation: Conversation,
  entry: JournalEntry,
  batch: Pick<Batch, "cycle_id" | "expires_at" | "items">,
): void {
  if (conversation.turn === null) return;
  conversation.turn.batch = {
    ...batch,
    entry,
    calls: entry.private?.calls ?? [],
    decisions: new Map(),
    assessed: false,
  };
}

function applyResolution(conversation: Conversation, event: ApprovalResolvedEvent, decided_at: string): void {
  const batch = conversation.turn?.batch;
  if (!batch || batch.cycle_id !== event.cycle_id) return;
  for (const [call_id, approved] of Object.entries(event.calls)) {
    const { feedback, decided_by, reason = null } = event;
    batch.decisions.set(call_id, { approved, feedback, decided_by, reason, decided_at });
  }
}

function applyReviewAnswer(conversation: Conversation, event: PlanResolvedEvent): void {
  const review = conversation.open_reviews.get(event.review_id);
  if (review === undefined) return;
  conversation.open_reviews.delete(event.review_id);
  conversation.settled_reviews.set(`${review.event.call_id}:${review.event.round}`, event);
}

function applyMcpAnswer(conversation: Conversation, event: McpRequestResolvedEvent): void {
  conversation.open_mcp_requests.delete(event.request_id);
  conversation.settled_mcp_requests.set(event.request_id, event);
}

function applyResult(conversation: Conversation, entry: JournalEntry, event: ToolResultEvent): void {
  const { turn } = conversation;
  for (const file of entry.private?.files ?? []) conversation.files.set(file.real_path, file);
  for (const name of entry.private?.expanded_tools ?? []) conversation.expanded_tools.add(name);
  for (const [request_id, asked] of conversation.open_mcp_requests) {
    if (asked.event.call_id === event.call_id) conversation.open_mcp_requests.delete(request_id);
  }
  if (turn === null) return;
  for (const [model_alias, usage] of Object.entries(entry.private?.usage ?? {})) {
    if (turn.usage !== null) addUsage(turn.usage.by_model, model_alias, usage);
  }
  turn.results.set(event.call_id, event);
  countRepeat(turn, event);
  if (turn.open_calls.length === 0 || !turn.open_calls.every((call) => turn.results.has(call.id))) return;
  for (const call of turn.open_calls) push(conversation, entry.seq, resultMessage(turn.results.get(call.id)));
  const note = approvalNote(turn.batch);
  if (note !== null) push(conversation, entry.seq, { role: "user", content: [{ type: "text", text: note }] });
  turn.open_calls = [];
  turn.batch = null;
}

function resultMessage(event: ToolResultEvent | undefined): Message {
  if (event === undefined) throw new Error("A batch was closed before each of its calls had a result.");
  return {
    role: "tool",
    call_id: event.call_id,
    name: event.name,
    content: [{ type: "text", text: event.output }, ...(event.images ?? []).map(attachmentPart)],
    is_error: event.is_error,
  };
}

/** What people wrote along with a yes; it reaches the model after all results. */
function approvalNote(batch: Batch | null): string | null {
  const notes = new Set<string>();
  for (const decision of batch?.decisions.values() ?? []) {
    if (decision.approved && decision.feedback) {
      const name = decision.decided_by === null ? "A person" : speakerName(decision.decided_by);
      notes.add(`${name} approved and added: ${withoutForgedNames(decision.feedback)}`);
    }
  }
  return notes.size === 0 ? null : [...notes].join("\n");
}

/** The summary stands where the newest message stood that it replaces, so that the order by `seq` holds. */
function applyCompaction(conversation: Conversation, entry: JournalEntry, event: CompactionEvent): void {
  const { summary, kept_after_seq, after_tokens } = event;
  const { messages, message_seqs, turn_starts, last_request } = conversation;
  const first_kept = message_seqs.findIndex((seq) => seq > kept_after_seq);
  const from = first_kept === -1 ? messages.length : first_kept;
  const text = `[Summary of the conversation so far]\n\n${summary}`;
  const carried = last_request !== null && last_request.seq <= kept_after_seq ? [last_request.message] : [];
  const head: Message[] = [{ role: "user", content: [{ type: "text", text }] }, ...carried];
  conversation.messages = [...head, ...messages.slice(from)];
  conversation.message_seqs = [...head.map(() => kept_after_seq), ...message_seqs.slice(from)];
  conversation.summarised = true;
  const reachable = turn_starts.filter((seq) => seq > kept_after_seq);
  conversation.turn_starts = reachable.length > 0 ? reachable : turn_starts.slice(-1);
  conversation.files.clear();
  for (const name of entry.private?.expanded_tools ?? []) conversation.expanded_tools.add(name);
  conversation.counted = { tokens: after_tokens, messages: conversation.messages.length };
}

/** A summary of earlier turns stays, unless everything is to be forgotten. */
function dropAfter(conversation: Conversation, kept_after_seq: number): void {
  const { messages, message_seqs, last_request } = conversation;
  conversation.summarised &&= kept_after_seq > 0;
  const stays = (_value: unknown, index: number): boolean =>
    (message_seqs[index] ?? 0) <= kept_after_seq || (conversation.summarised && index === 0);
  conversation.messages = messages.filter(stays);
  conversation.message_seqs = message_seqs.filter(stays);
  if (last_request !== null && last_request.seq > kept_after_seq) conversation.last_request = null;
  conversation.turn_starts = conversation.turn_starts.filter((seq) => seq <= kept_after_seq);
  conversation.files.clear();
  conversation.counted = { tokens: 0, messages: 0 };
  conversation.turn = null;
}

/** What an open turn needs next. */
export type NextAction =
  | { kind: "call_model" }
  | { kind: "prepare"; calls: ToolCall[] }
  | { kind: "wait"; cycle_id: string }
  | { kind: "execute"; batch: Batch; calls: ToolCall[] }
  | { kind: "finish"; stop_reason: string };

/** Derives the next action from the conversation alone, in a running turn and after a crash alike. */
export function nextAction(turn: TurnProgress): NextAction {
  if (turn.answered !== null) {
    return turn.answered === "pause" ? { kind: "call_model" } : { kind: "finish", stop_reason: turn.answered };
  }
  if (turn.open_calls.length === 0) return { kind: "call_model" };
  if (turn.batch === null) return { kind: "prepare", calls: turn.open_calls };
  const { batch } = turn;
  if (batch.cycle_id !== null && undecidedCalls(batch).length > 0) return { kind: "wait", cycle_id: batch.cycle_id };
  return { kind: "execute", batch, calls: turn.open_calls.filter((call) => !turn.results.has(call.id)) };
}

/** Asked calls of a batch that nobody has decided yet. */
export function undecidedCalls(batch: Batch): string[] {
  return batch.calls
    .filter((call) => call.needs_approval && !batch.decisions.has(call.call_id))
    .map((call) => call.call_id);
}
