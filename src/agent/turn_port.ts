import type { Catalog } from "../catalog/catalog.ts";
import type { ModelSettings } from "../contracts/provider.ts";
import type { Change, PrivateData, WorkstreamRow } from "../contracts/store.ts";
import type { PrepareContext, ToolContext } from "../contracts/tool.ts";
import type { PolicyInputs } from "../pipeline/policy.ts";
import type { StreamRedactor } from "../lib/redact_stream.ts";
import type { EphemeralEvent, ErrorEvent, KeptEvent, StatusEvent } from "../protocol/event.ts";
import type { WorkstreamState } from "../protocol/workstream.ts";
import type { ModelCallDependencies } from "./model_call.ts";
import type { Conversation, TurnProgress } from "./conversation.ts";

/**
 * Entries that are to be written together, with what changes along with them. Times and sequence numbers that are
 * left empty are filled in by the writer.
 */
export interface Draft {
  entries: { event: KeptEvent; private?: PrivateData }[];
  state?: WorkstreamState;
  turn_open?: boolean;
  context_tokens?: number;
  changes?: Change[];
}

/** The text of the running model call, for those who come late. */
export interface StreamBuffer {
  model_call_id: string;
  content: string;
  reasoning: string;
}

/**
 * All that the turn loop may do to its workstream. The actor implements it; the loop knows nothing else of the actor.
 */
export interface TurnPort {
  readonly workstream: Readonly<WorkstreamRow>;
  readonly conversation: Conversation;
  /** The last entry that an earlier process wrote: a call started up to here was interrupted by its end. */
  readonly recovered_seq: number;
  /** Aborted by cancel (the turn is wound up) and by a stop of the server (the turn waits for the next start). */
  readonly signal: AbortSignal;
  /**
   * Writes, then tells. Resolves when durable; rejects once the signal is aborted. While the store fails it tries
   * again.
   */
  append(draft: Draft): Promise<void>;
  /** Writes the result of a call, also while a cancel waits for it; one that comes too late is dropped. */
  appendResult(draft: Draft, call_id: string): Promise<void>;
  emit(event: EphemeralEvent): void;
  /** Writes an `info` entry without holding the turn up. */
  note(message: string): void;
  /** Tells a state that is not worth an entry of its own. */
  setState(state: WorkstreamState): void;
  /** Text of the running call; pieces of one event-loop turn go out as one event. */
  delta(kind: "content" | "reasoning", text: string): void;
  /** Starts or clears the buffer behind `in_progress_snapshot`. */
  setStream(stream: StreamBuffer | null): void;
  /** Takes queued messages in as entries of this turn; answers whether there were any. */
  joinQueued(): Promise<boolean>;
  /** Has a second model look at what waits, where one is set; waits for nothing. */
  assess(cycle_id: string): void;
  /** Resolves when something about an approval has been decided, or rejects with the signal's reason. */
  decided(cycle_id: string): Promise<void>;
  models(): ModelSettings[];
  systemPrompt(): Promise<string>;
  policy(): Promise<PolicyInputs>;
  prepareContext(settings: ModelSettings): PrepareContext;
  toolContext(call_id: string, settings: ModelSettings): ToolContext;
  /** The server takes no new work: nothing that outlasts the running calls may begin. */
  stopping(): boolean;
  /** The time, ISO 8601. */
  now(): string;
  /** Usage of the turn so far; null before its first model call. */
  status(turn: TurnProgress): StatusEvent | null;
  /** What ends the turn because its person has used up the day's budget; null while there is something left. */
  budgetError(): Promise<ErrorEvent | null>;
  /** When an approval that opens now runs out; null for never. */
  approvalExpiry(): string | null;
}

/** What the turn loop works with, besides its workstream. */
export interface TurnDependencies extends ModelCallDependencies {
  catalog: Catalog;
  loadAttachment: (attachment_id: string) => Promise<Uint8Array | null>;
  redact: (text: string) => string;
  /** The same for a text that comes in pieces. */
  redactStream: () => StreamRedactor;
  /** Model calls that a sub-agent's turn may make. */
  agent_max_turns: number;
}

/** Why a turn's signal was aborted. */
export class TurnAborted extends Error {
  readonly kind: "cancel" | "shutdown";
  constructor(kind: "cancel" | "shutdown") {
    super(kind === "cancel" ? "The turn was cancelled." : "The server is stopping.");
    this.name = "TurnAborted";
    this.kind = kind;
  }
}

/** Whether a turn was left to the next start rather than cancelled. */
export function isShutdown(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof TurnAborted && signal.reason.kind === "shutdown";
}
