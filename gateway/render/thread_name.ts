import { clip, isBlank, showInvisible } from "./defuse.ts";

/** Of a thread's name. */
export const THREAD_NAME_LENGTH_MAX = 100;
/** Joiners and marks that a name does without. */
const UNSEEN = new RegExp(["\\u200b", "\\u200c", "\\u200d", "\\u200e", "\\u200f", "\\ufe0f", "\\ufeff"].join("|"), "g");
const UNNAMED = "New conversation";

/**
 * A thread's name from what a person wrote: its first line with words, without formatting; 1 to 100 units, always
 * valid.
 */
export function threadName(text: string): string {
  const line = text.split("\n").find((each) => !isBlank(each) && !/^\s*(```|~~~)/.test(each)) ?? "";
  const words = showInvisible(line.replace(UNSEEN, ""))
    .replace(/<a?:(\w+):\d+>/g, ":$1:")
    .replace(/<[@#][!&]?\d+>/g, "")
    .replace(/^[\s>#*-]+/, "")
    .replace(/[*_`|~]{2,}|[`]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return isBlank(words) ? UNNAMED : clip(words, THREAD_NAME_LENGTH_MAX).toWellFormed();
}
