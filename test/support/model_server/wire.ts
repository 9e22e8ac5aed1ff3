import type { AnswerOptions } from "./reply.ts";

/** One server-sent event. `token`: a piece of text or reasoning, which pacing waits for. */
export interface Frame {
  event?: string;
  data: string;
  token: boolean;
}

export type WireName = "chat" | "responses" | "anthropic";

/** How one wire format says an answer and what it demands of a request. */
export interface Wire {
  name: WireName;
  path: string;
  frames(answer: AnswerOptions, request: Record<string, unknown>): Frame[];
  whole(answer: AnswerOptions, request: Record<string, unknown>): Record<string, unknown>;
  /** An error in the middle of a stream. */
  errorFrame(error: Record<string, unknown>): Frame;
  /** What a strict server would refuse, in words; empty when nothing. */
  problems(body: Record<string, unknown>): string[];
  /** All text of the conversation's first message from a person. */
  firstUserText(body: Record<string, unknown>): string;
  lastUserText(body: Record<string, unknown>): string;
  systemText(body: Record<string, unknown>): string;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The text of a string or of a list of parts with `text`. */
export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  return listIn(content)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** Names keys that do not belong: ours must not leak, and strict servers refuse what they do not know. */
export function unknownKeys(where: string, value: Record<string, unknown>, known: readonly string[]): string[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `${where} has the unknown key "${key}"`);
}

/** Every string in a body, however deep. */
export function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const one of value) yield* stringsIn(one);
  else if (isRecord(value)) {
    for (const [key, one] of Object.entries(value)) {
      yield key;
      yield* stringsIn(one);
    }
  }
}

/** What no server takes in any text. */
export function textProblems(body: Record<string, unknown>): string[] {
  const problems: string[] = [];
  for (const text of stringsIn(body)) {
    if (text.includes("\0")) problems.push("a text holds NUL");
    if (!text.isWellFormed()) problems.push("a text holds half of a surrogate pair");
  }
  return problems;
}

export function isObjectJson(text: unknown): boolean {
  try {
    return typeof text === "string" && isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
