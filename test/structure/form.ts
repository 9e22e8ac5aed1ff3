import type { Class, Node } from "oxc-parser";
import { Visitor } from "oxc-parser";
import type { SourceFile } from "./source.ts";
import { lineAt } from "./source.ts";

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const COLUMNS_MAX = 120;
/** The file that grows first in systems like this one. */
const ACTOR = "src/workstream/actor.ts";
const ACTOR_LINES_MAX = 250;

/** Files, functions and lines that are too long. */
export function tooLong(file: SourceFile): string[] {
  const found: string[] = [];
  const lines = file.text.trimEnd().split("\n");
  const most = file.path === ACTOR ? ACTOR_LINES_MAX : FILE_LINES_MAX;
  if (lines.length > most) found.push(`${file.path} has ${lines.length} lines; at most ${most}`);
  for (const [index, line] of lines.entries()) {
    // A sentence for people stays on one line, so that it can be searched for.
    if (line.length > COLUMNS_MAX && !/["'`]/.test(line)) found.push(`${file.path}:${index + 1} is too wide`);
  }
  const measure = (node: Node): void => {
    // A test tells one story from beginning to end, and a suite is a list of them.
    if (file.path.endsWith(".test.ts")) return;
    const first = lineAt(file.text, node.start);
    const length = lineAt(file.text, node.end) - first + 1;
    if (length > FUNCTION_LINES_MAX) found.push(`${file.path}:${first} is a function of ${length} lines`);
  };
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(file.program);
  return found;
}

/** Constructs that this code base does without. */
export function bannedConstructs(file: SourceFile): string[] {
  const found: string[] = [];
  const ban = (what: string) => (node: Node) => {
    found.push(`${file.path}:${lineAt(file.text, node.start)} ${what}`);
  };
  const inherit = (node: Class): void => {
    const parent = node.superClass;
    const error = parent?.type === "Identifier" && parent.name.endsWith("Error");
    if (parent !== null && !error) ban("inherits from a class")(node);
  };
  new Visitor({
    TSAnyKeyword: ban("uses any"),
    TSEnumDeclaration: ban("declares an enum"),
    // Adding to the types of a package is the one use of `declare module`.
    TSModuleDeclaration: (node) => (node.id.type === "Literal" ? undefined : ban("declares a namespace")(node)),
    ExportAllDeclaration: ban("exports everything of another file"),
    ExportDefaultDeclaration: ban("has a default export"),
    ClassDeclaration: inherit,
    ClassExpression: inherit,
  }).visit(file.program);
  return found;
}

/** Marks of unfinished work, and paths of somebody's machine. */
export function bannedWords(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const found = BANNED_WORDS.filter((word) => word.test(line)).map(
      (word) => `${path}:${index + 1} has ${word.source}`,
    );
    return found;
  });
}

const BANNED_WORDS = [/\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/, /(?<![\w.~}])\/(home\/\w+|Users\/\w+|work|root)\//];

/** File names that are not lower case with underscores. */
export function badNames(paths: readonly string[]): string[] {
  return paths.filter((path) => !/^[a-z0-9_]+(\.[a-z0-9_]+)*\.ts$/.test(path.split("/").at(-1) ?? ""));
}

/** The groups of fault cases that tests may cite, with the highest number of each. */
const FAULT_GROUPS: Readonly<Record<string, number>> = {
  APPR: 21,
  AUTH: 14,
  BASH: 27,
  CALC: 6,
  CTX: 15,
  DEVT: 26,
  DREN: 17,
  FILE: 35,
  MCP: 34,
  NTFY: 25,
  PROV: 34,
  SECR: 7,
  SRCH: 11,
  SSE: 16,
  STOR: 19,
  TC: 15,
  TSRCH: 6,
  WEB: 24,
};

/** Citations in the titles of tests that name no fault case there is. */
export function badCitations(file: SourceFile): string[] {
  const titles = [...file.text.matchAll(/\btest(?:\.\w+)*(?:\([^"'`]*\))?\(\s*(["'`])((?:\\.|(?!\1).)*)\1/gs)];
  return titles.flatMap((match) =>
    [...(match[2] ?? "").matchAll(/\b([A-Z]{2,5})-(\d{2})\b/g)]
      .filter(([, group = "", number]) => Number(number) < 1 || Number(number) > (FAULT_GROUPS[group] ?? 0))
      .map(([citation]) => `${file.path}:${lineAt(file.text, match.index)} cites ${citation}`),
  );
}
