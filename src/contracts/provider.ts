import type { Message, ReplayBlocks, StopReason, ToolCall, Usage } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import type { ErrorCode } from "../protocol/error.ts";

/** What is believed of a model; keys as in config. */
export interface Capabilities {
  /** Tokens. */
  context_window: number;
  /** Tokens. */
  max_output_tokens: number;
  supports_vision: boolean;
  supports_temperature: boolean;
  supports_web_search: boolean;
  supports_tool_search: boolean;
  supports_parallel_tools: boolean;
  effort_levels: readonly string[];
  thinking_mode: "none" | "manual" | "adaptive";
  token_param: "max_tokens" | "max_completion_tokens" | "max_output_tokens";
}

/** Where what is believed of a model comes from. */
export interface CapabilityOrigin {
  /** The beginning of its name that the table knows; null for a model that it does not, which gets what is safe. */
  known_as: string | null;
  /** The keys that the configuration set. */
  configured: readonly string[];
}

/** One model that can be called: where it is and what it can do. */
export interface ModelSettings {
  alias: string;
  provider: string;
  /** The name on the wire. */
  model: string;
  base_url: string;
  api_key: string;
  capabilities: Capabilities;
  /** Why that is believed; absent where nobody is asked, as with the demo. */
  believed?: CapabilityOrigin;
  effort: string;
  temperature: number | null;
  /** USD per million tokens; null when unknown. */
  price: { input: number; output: number; cache_read: number; cache_write: number } | null;
  /** Milliseconds without a byte after which a stream counts as dead. */
  stall_timeout_ms: number;
}

/** A request in neutral form. Objects in `messages` are immutable: a provider may keep what it made of one. */
export interface ModelRequest {
  settings: ModelSettings;
  system: string;
  messages: readonly Message[];
  tools: readonly ModelTool[];
  /** Tools that the model finds by its provider's own search. Only with `supports_tool_search`. */
  deferred_tools: readonly ModelTool[];
  /** Let the provider search the web itself. Only with `supports_web_search`. */
  native_web_search: boolean;
  max_output_tokens: number;
  /** The bytes of a picture; null when it is gone. */
  loadAttachment(attachment_id: string): Promise<Uint8Array | null>;
}

/** Why a call failed and what may be done. Made where the failure is understood, at the provider's edge. */
export interface ProviderFailure {
  code: ErrorCode;
  /** One plain sentence for people: what, why, what to do. No addresses, no keys. */
  message: string;
  /** For the log: what the server said, at most 2,000 characters, secrets removed. */
  detail: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** Milliseconds that the server asked for. */
  retry_after_ms?: number;
}

/**
 * What comes out of a stream, in order. The last event is exactly one `ended` or `failed`; the stream never throws.
 * A `tool_call` is whole: name, arguments and a non-empty id, in the order in which the model asked.
 */
export type ProviderEvent =
  | { type: "content"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_call"; call: ToolCall }
  | { type: "info"; message: string }
  | { type: "expanded_tools"; names: string[] }
  | { type: "ended"; stop_reason: StopReason; usage: Usage; replay?: ReplayBlocks }
  | { type: "failed"; failure: ProviderFailure };

/** One wire format: a leaf. */
export interface Provider {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent>;
  /** Names of the models that the server has; throws nothing: null when it does not answer. */
  listModels(settings: Pick<ModelSettings, "base_url" | "api_key">, signal: AbortSignal): Promise<string[] | null>;
}
