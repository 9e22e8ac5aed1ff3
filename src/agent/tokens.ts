import { estimateTokenCount } from "tokenx";
import type { Message } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import type { Conversation } from "./conversation.ts";

/** A picture costs about this much with either vendor, whatever its bytes. */
const IMAGE_TOKENS = 1500;

/** Roles, ids and separators around each message. */
const MESSAGE_OVERHEAD_TOKENS = 6;

/** Our estimate is never off by more, not even for scripts that vendors count by the byte. */
const SCALE_MAX = 3;

const kept = new WeakMap<object, number>();

/** Tokens of one message, estimated once. */
export function messageTokens(message: Message): number {
  const known = kept.get(message);
  if (known !== undefined) return known;
  const tokens = MESSAGE_OVERHEAD_TOKENS + countOf(message);
  kept.set(message, tokens);
  return tokens;
}

/** Tokens of several messages. */
export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

function countOf(message: Message): number {
  if (message.role === "assistant") {
    const calls = message.tool_calls.reduce(
      (sum, call) => sum + estimateTokenCount(`${call.name}${call.arguments}`),
      0,
    );
    return calls + estimateTokenCount(message.content) + estimateTokenCount(message.reasoning ?? "");
  }
  return message.content.reduce(
    (sum, part) =>
      sum + (part.type === "text" ? estimateTokenCount(part.text) : part.type === "image" ? IMAGE_TOKENS : 30),
    0,
  );
}

function toolTokens(tools: readonly ModelTool[]): number {
  const known = kept.get(tools);
  if (known !== undefined) return known;
  const tokens = estimateTokenCount(JSON.stringify(tools));
  kept.set(tools, tokens);
  return tokens;
}

/** Tokens of the instructions and the tools, estimated: no summary makes them fewer. */
export function fixedTokens(system: string, tools: readonly ModelTool[]): number {
  return estimateTokenCount(system) + toolTokens(tools);
}

/**
 * Tokens of the next request: what the provider counted last, plus an estimate of what came since, in the provider's
 * measure when that could matter in a window of this size. Before the first count all of it is estimated.
 */
export function estimateTokens(
  conversation: Conversation,
  system: string,
  tools: readonly ModelTool[],
  window: number,
): number {
  const { counted, messages } = conversation;
  if (!isCounted(conversation)) return fixedTokens(system, tools) + tokensOf(messages);
  const since = tokensOf(messages.slice(counted.messages));
  if (counted.tokens + since * SCALE_MAX < window / 2) return counted.tokens + since;
  return Math.ceil(counted.tokens + since * countScale(conversation, fixedTokens(system, tools)));
}

/**
 * By how much the provider counts more than we estimate; at least 1. Looks at every message, so it is asked for only
 * when space is short.
 */
export function countScale(conversation: Conversation, fixed_tokens: number): number {
  const { counted, messages } = conversation;
  if (!isCounted(conversation)) return 1;
  const scale = counted.tokens / (fixed_tokens + tokensOf(messages.slice(0, counted.messages)));
  return Math.min(SCALE_MAX, Math.max(1, scale));
}

function isCounted({ counted }: Conversation): boolean {
  return counted.messages > 0 && counted.tokens > 0;
}
