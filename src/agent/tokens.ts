import { estimateTokenCount } from "tokenx";
import type { Message } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import type { Conversation } from "./projection.ts";

/** A picture costs about this much with either vendor, whatever its bytes. */
const IMAGE_TOKENS = 1500;

/** Roles, ids and separators around each message. */
const MESSAGE_OVERHEAD_TOKENS = 6;

const kept = new WeakMap<object, number>();

/** Tokens of one message, estimated once. */
export function messageTokens(message: Message): number {
  const known = kept.get(message);
  if (known !== undefined) return known;
  const tokens = MESSAGE_OVERHEAD_TOKENS + countOf(message);
  kept.set(message, tokens);
  return tokens;
}

function countOf(message: Message): number {
  if (message.role === "assistant") {
    const calls = message.tool_calls.reduce((sum, call) => sum + estimateTokenCount(`${call.name}${call.arguments}`), 0);
    return calls + estimateTokenCount(message.content) + estimateTokenCount(message.reasoning ?? "");
  }
  return message.content.reduce(
    (sum, part) => sum + (part.type === "text" ? estimateTokenCount(part.text) : part.type === "image" ? IMAGE_TOKENS : 30),
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

/**
 * Tokens of the next request: what the provider counted last, plus an estimate of what came since. Before the first count all
 * of it is estimated.
 */
export function estimateTokens(conversation: Conversation, system: string, tools: readonly ModelTool[]): number {
  const { counted, messages } = conversation;
  if (counted.messages > 0 && counted.tokens > 0) {
    return messages.slice(counted.messages).reduce((sum, message) => sum + messageTokens(message), counted.tokens);
  }
  const base = estimateTokenCount(system) + toolTokens(tools);
  return messages.reduce((sum, message) => sum + messageTokens(message), base);
}
