import { cut } from "../lib/cut.ts";
import type { ContentPart, Message } from "../protocol/message.ts";
import { messageTokens } from "./tokens.ts";

/** No message is cut to less: a shorter piece would say nothing. */
const MESSAGE_TOKENS_MIN = 200;

/** Cutting goes on in steps of this; finer ones would save a few words at most. */
const STEP = 0.8;

const HINT = "It is too long to be shown whole; look at it in parts.";

/**
 * The same messages, the longest of them cut until all fit into so many tokens, as far as that is possible. What the
 * model itself said stays as it is, since its own blocks are replayed verbatim; pictures stay too. The conversation
 * is not changed.
 */
export function fitMessages(messages: readonly Message[], room_tokens: number): readonly Message[] {
  const sizes = messages.map(messageTokens);
  const total = (limit: number): number =>
    messages.reduce(
      (sum, message, index) => sum + (mayBeCut(message) ? Math.min(limit, sizes[index] ?? 0) : (sizes[index] ?? 0)),
      0,
    );
  let limit = Math.max(0, ...sizes);
  if (total(limit) <= room_tokens) return messages;
  while (limit > MESSAGE_TOKENS_MIN && total(limit) > room_tokens) limit *= STEP;
  return messages.map((message, index) => {
    const size = sizes[index] ?? 0;
    return size <= limit || !mayBeCut(message) ? message : shortened(message, limit / size);
  });
}

function mayBeCut(message: Message): message is Exclude<Message, { role: "assistant" }> {
  return message.role !== "assistant";
}

function shortened<T extends Exclude<Message, { role: "assistant" }>>(message: T, share: number): T {
  const content = message.content.map((part): ContentPart =>
    part.type === "text" ? { ...part, text: cut(part.text, Math.floor(part.text.length * share), HINT) } : part,
  );
  return { ...message, content };
}
