import { parseShell } from "../lib/shell_words.ts";
import type { ShellCommand, ShellScript } from "../lib/shell_script.ts";

/**
 * How a rule or grant speaks of a call: the whole text, its beginning, or a pattern in which `*` stands for anything.
 */
export type Match = "exact" | "prefix" | "glob";

/** `unsure`: the script cannot be understood well enough to say. */
export type Coverage = "yes" | "no" | "unsure";

/** What a call would do, as rules and grants see it. */
export interface CoveredCall {
  name: string;
  /** The command, path, address or other primary argument. */
  subject: string;
}

/**
 * Whether a permission covers all that a call would do. Shell scripts are compared command by command and word by word:
 * `git status` covers `git status --short`, never `git status; rm -rf x` nor `git statusx`, and no script that writes
 * to files, sets variables or cannot be understood. Of paths and addresses a prefix ends at a folder.
 */
export function permits(call: CoveredCall, match: Match, pattern: string): boolean {
  if (match === "exact") return call.subject === pattern;
  if (call.name !== "bash") return coversText(call.subject, match, pattern);
  if (match === "glob" && pattern.trim() === "*") return true;
  const script = parseShell(call.subject);
  const plain = script.doubts.length === 0 && script.commands.length > 0 && script.commands.every(isPlain);
  return plain && script.commands.every((command) => coversCommand(command, match, pattern));
}

/**
 * Whether a rule that forbids or asks touches anything that a call would do: one command of a script is enough. In a
 * script that cannot be understood anything may hide.
 */
export function touches(call: CoveredCall, pattern: string): Coverage {
  if (call.name !== "bash") return coversText(call.subject, "glob", pattern) ? "yes" : "no";
  const script = parseShell(call.subject);
  if (script.commands.some((command) => coversCommand(command, "glob", pattern))) return "yes";
  return mayHide(script) ? "unsure" : "no";
}

function isPlain(command: ShellCommand): boolean {
  const harmless = command.redirections.every(({ operator, target }) => isHarmless(operator, target.text));
  return harmless && command.assignments.length === 0 && !command.background && command.in_function === null;
}

/** Joining the two outputs or throwing one away changes no file. */
function isHarmless(operator: string, target: string): boolean {
  return target === "/dev/null" || (operator.endsWith("&") && /^\d$/.test(target));
}

function mayHide(script: ShellScript): boolean {
  return script.doubts.length > 0 || script.commands.some((command) => command.words[0]?.literal === false);
}

function coversCommand(command: ShellCommand, match: "prefix" | "glob", pattern: string): boolean {
  const wanted = pattern.trim().split(/\s+/);
  const open_ended = match === "prefix" || wanted.at(-1) === "*";
  const fixed = match === "glob" && open_ended ? wanted.slice(0, -1) : wanted;
  const { words } = command;
  if (open_ended ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((piece, index) => {
    const word = words[index];
    if (word === undefined || !word.literal) return false;
    return match === "glob" ? globExpression(piece).test(word.text) : piece === word.text;
  });
}

function coversText(text: string, match: "prefix" | "glob", pattern: string): boolean {
  if (match === "glob") return globExpression(pattern).test(text);
  return (
    text === pattern ||
    (text.startsWith(pattern) && (/[\s/?#]$/.test(pattern) || /^[\s/?#]/.test(text.slice(pattern.length))))
  );
}

function globExpression(pattern: string): RegExp {
  const source = pattern.split("*").map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${source.join(".*")}$`, "s");
}
