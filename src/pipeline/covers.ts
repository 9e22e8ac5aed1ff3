import type { PolicyCall } from "./policy.ts";

/** What makes a shell line more than one plain command: such a line is covered by an exact pattern alone. */
const SHELL_SYNTAX = /[;&|<>$`(){}\n\r\\!*?[\]~#]/;

/**
 * Whether a pattern covers what a call would do. `exact` is the same text. For bash, `prefix` and `glob` compare words of one
 * plain command: `git status` covers `git status --short`, never `git status; rm -rf x` nor `git statusx`. For paths and
 * other tools a prefix ends at a word or folder, and `*` in a glob stands for anything.
 */
export function covers(call: PolicyCall, match: "exact" | "prefix" | "glob", pattern: string): boolean {
  if (match === "exact") return call.subject === pattern;
  if (call.name === "bash") return coversCommand(call.subject, match, pattern);
  if (match === "prefix") return call.subject === pattern || /^[\s/?#]/.test(call.subject.slice(pattern.length)) && call.subject.startsWith(pattern);
  return globExpression(pattern).test(call.subject);
}

function coversCommand(command: string, match: "prefix" | "glob", pattern: string): boolean {
  if (match === "glob" && pattern === "*") return true;
  if (SHELL_SYNTAX.test(command)) return false;
  const words = command.trim().split(/\s+/);
  const wanted = pattern.trim().split(/\s+/);
  const open_ended = match === "prefix" || wanted.at(-1) === "*";
  const fixed = match === "glob" && open_ended ? wanted.slice(0, -1) : wanted;
  if (open_ended ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((word, index) => globExpression(match === "glob" ? word : escapeStars(word)).test(words[index] ?? ""));
}

function escapeStars(word: string): string {
  return word.replaceAll("*", "\\*");
}

function globExpression(pattern: string): RegExp {
  const source = pattern
    .split(/(\\\*|\*)/)
    .map((piece) => (piece === "*" ? ".*" : piece === "\\*" ? "\\*" : piece.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${source}$`, "s");
}
