import type { InboundMessage } from "../channel_adapter.ts";

/** What the agent reads of a message: what it answers, as a quotation, its own words, and what else was in it. */
export function messageText(message: InboundMessage): string {
  const { reply_to, text, extras } = message;
  const quoted =
    reply_to === null || reply_to.text.trim() === "" ? [] : [quotation(reply_to.author_name, reply_to.text)];
  return [...quoted, text, ...extras].filter((part) => part.trim() !== "").join("\n\n");
}

/** What a conversation that begins with this message is about. */
export function subjectOf(message: InboundMessage): string {
  return message.text || message.extras[0] || message.attachments[0]?.filename || message.reply_to?.text || "";
}

/** Whether there is nothing to work on. */
export function isEmpty(message: InboundMessage): boolean {
  return messageText(message) === "" && message.attachments.length === 0;
}

function quotation(author: string, text: string): string {
  const lines = text.split("\n").map((line) => `> ${line}`);
  return [`> ${author} wrote:`, ...lines].join("\n");
}
