import { createHash } from "node:crypto";
import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { FilePart, ImagePart, ToolCall } from "../protocol/message.ts";

/** Characters of unreadable arguments that a model gets to see again: enough to recognise its mistake. */
const BROKEN_ARGUMENTS_SHOWN_MAX = 2000;

/** What every server takes as an id of a call: Anthropic's pattern within OpenAI's length. */
const WIRE_ID = /^[A-Za-z0-9_-]{1,64}$/;

// oxlint-disable-next-line no-control-regex -- NUL is what this looks for.
const NUL = /\u0000/g;

/** Text as every server accepts it: no NUL, which databases and templates refuse, and no half of a surrogate pair. */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replace(NUL, "") : whole;
}

/**
 * A call's arguments as an object, whatever the model wrote. Unreadable text goes out as the value of one key, so that
 * a malformed call does not make every later request of the conversation malformed.
 */
export function argumentsObject(call: ToolCall): JsonObject {
  if (call.arguments.trim() === "") return {};
  const parsed = parseJson(call.arguments);
  if (isJsonObject(parsed)) return parsed;
  const unwrapped = typeof parsed === "string" ? parseJson(parsed) : undefined;
  if (isJsonObject(unwrapped)) return unwrapped;
  return parsed === null ? {} : { unreadable_arguments: call.arguments.slice(0, BROKEN_ARGUMENTS_SHOWN_MAX) };
}

/** JSON text of {@link argumentsObject}; the model's own spelling where it was legal. */
export function argumentsText(call: ToolCall): string {
  const legal = isJsonObject(parseJson(call.arguments));
  return cleanText(legal ? call.arguments : JSON.stringify(argumentsObject(call)));
}

/** An id that every server accepts, the same each time for the same call. */
export function wireCallId(id: string): string {
  return WIRE_ID.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

/** How a file in the workspace is put to a model. */
export function fileInWords(part: FilePart): string {
  return `[File "${oneLine(part.filename)}" (${part.media_type}, ${part.size} bytes), saved as ${oneLine(part.path)}]`;
}

/** How a picture is put to a model that does not get its bytes. */
export function pictureInWords(part: ImagePart, why: string): string {
  const pixels = part.width && part.height ? `, ${part.width}×${part.height} pixels` : "";
  return `[Picture "${oneLine(part.filename)}" (${part.media_type}${pixels}): ${why}]`;
}

/** Parses, or gives undefined: JSON has no such value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
