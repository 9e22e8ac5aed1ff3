import type { Conversation } from "../agent/conversation.ts";
import type { Draft } from "../agent/turn_port.ts";
import type { WorkstreamRow } from "../contracts/store.ts";
import type { DelegateRequest, DelegateResult, McpRequestReply } from "../contracts/tool.ts";
import type { EphemeralEvent } from "../protocol/event.ts";
import type { McpRequest } from "../protocol/mcp_request.ts";
import type { WorkstreamState } from "../protocol/workstream.ts";
import type { DeltaStream } from "./delta_stream.ts";
import type { EngineServices } from "./services.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the parts of a live workstream may see of it and do to it. The actor implements it. */
export interface LiveWorkstream {
  /** Changed by the actor alone. */
  readonly row: WorkstreamRow;
  readonly conversation: Conversation;
  readonly services: EngineServices;
  readonly host: WorkstreamHost;
  /** The workstream that people see: its own id, or that of a sub-agent's topmost parent. */
  readonly root_ws_id: string;
  readonly surroundings: Surroundings;
  /** What the running model call says. */
  readonly stream: DeltaStream;
  readonly inbox: {
    /** Takes queued messages in as entries of this turn; answers whether there were any. */
    join(signal: AbortSignal): Promise<boolean>;
  };
  /** What MCP servers want of people. */
  readonly mcp_requests: {
    ask(call_id: string, server: string, request: McpRequest, signal: AbortSignal): Promise<McpRequestReply>;
  };
  /** The last entry that an earlier process wrote. */
  readonly recovered_seq: number;
  /** A turn is being ended from outside: its calls write nothing any more. */
  readonly winding_up: boolean;
  /** A turn is open or coming to its end: messages wait. */
  readonly is_busy: boolean;
  /** Runs requests one after another, in the order in which they came. */
  serial<T>(request: () => Promise<T>): Promise<T>;
  /** Writes, then tells. Rejects when the store refuses. */
  append(draft: Draft): Promise<void>;
  /** For what nobody waits to hear a refusal of: while the store fails, tries again until the signal is aborted. */
  appendPersistently(draft: Draft, signal: AbortSignal): Promise<void>;
  emit(event: EphemeralEvent): void;
  /** Tells a state that is not worth an entry of its own. */
  setState(state: WorkstreamState): void;
  /** Starts or carries on whatever is open; does nothing while a turn runs. */
  start(): void;
  /** Resolves when something was decided, or rejects when the signal is aborted. */
  decided(signal: AbortSignal): Promise<void>;
}

/** What an actor needs of the one who holds all of them. */
export interface WorkstreamHost {
  delegate(
    parent: WorkstreamRow,
    call_id: string,
    request: DelegateRequest,
    signal: AbortSignal,
  ): Promise<DelegateResult>;
  isStopping(): boolean;
  stateChanged(actor: LiveWorkstream): void;
  /** Shows on a workstream whose calls run whether one of them, or a sub-agent, waits for a person. */
  showAttention(ws_id: string): void;
  /** Has a second model look at what waits, where one is set. */
  assess(actor: LiveWorkstream, cycle_id: string): void;
  /** The `seq` with which the open turn began; 0 when none is open. */
  turnSeqOf(ws_id: string): Promise<number>;
  /** The `user_id` of each person whose words are part of the open turn. */
  speakersOf(ws_id: string): Promise<ReadonlySet<string>>;
  /** A turn is over, or left to the next start. */
  turnEnded(actor: LiveWorkstream): void;
}
