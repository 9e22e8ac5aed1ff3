/**
 * The one neutral form of a conversation. Providers translate it at their edge; nothing else does.
 */

/** Plain text for people and model alike. */
export interface TextPart {
  type: "text";
  text: string;
}

/** A picture. The bytes are an attachment in the store; a part only names them. */
export interface ImagePart {
  type: "image";
  attachment_id: string;
  /** As sniffed from the bytes, such as `image/png`; never as a file name claims. */
  media_type: string;
  filename: string;
  /** Bytes. */
  size: number;
  width?: number;
  height?: number;
}

/** A file that was saved into the workspace; the model reads it with its tools. */
export interface FilePart {
  type: "file";
  attachment_id: string;
  media_type: string;
  filename: string;
  /** Bytes. */
  size: number;
  /** Where it lies, relative to the workspace. */
  path: string;
}

export type ContentPart = TextPart | ImagePart | FilePart;

/** What a model asked for. `arguments` is the model's own text, kept as it came. */
export interface ToolCall {
  /** Unique in the workstream, whatever the model repeated. */
  id: string;
  name: string;
  arguments: string;
}

/** Tokens of one model call, as the provider counted them. `prompt_tokens` includes what came from a cache. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cache_creation_tokens?: number;
  cache_read_tokens?: number;
}

/** Sums of several model calls, by the alias of the model. */
export type UsageByModel = Readonly<Record<string, Usage>>;

/** Why a model call ended. `tool_calls` is the only one after which calls run. */
export const STOP_REASONS = [
  "stop",
  "tool_calls",
  "length",
  "content_filter",
  "refusal",
  "pause",
  "cancelled",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Who said something, as verified by us. */
export interface Sender {
  user_id: string;
  name: string;
  channel_type?: string;
  channel_user_id?: string;
}

export interface UserMessage {
  role: "user";
  content: ContentPart[];
  sender?: Sender;
}

/**
 * What a provider wants back word for word on the next call (signatures, encrypted reasoning). Opaque to all others.
 */
export interface ReplayBlocks {
  /** The wire format that made them; another one ignores them. */
  provider: string;
  /** The model that made them; reasoning of another model is not replayed. */
  model: string;
  /** JSON text of the provider's own blocks, in order. */
  blocks: string;
}

export interface AssistantMessage {
  role: "assistant";
  content: string;
  reasoning?: string;
  tool_calls: ToolCall[];
  replay?: ReplayBlocks;
}

export interface ToolMessage {
  role: "tool";
  call_id: string;
  name: string;
  content: ContentPart[];
  is_error: boolean;
}

/** A conversation is a list of these; the system prompt stands apart from it. Messages are never changed in place. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** The text of a list of parts; other parts are left out. */
export function textOf(parts: readonly ContentPart[]): string {
  return parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n");
}
