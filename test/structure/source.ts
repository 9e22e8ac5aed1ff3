import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "oxc-parser";
import { parseSync, Visitor } from "oxc-parser";

/** The repository's folder. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A TypeScript file and what it refers to. Paths are relative to the repository, with `/`. */
export interface SourceFile {
  path: string;
  text: string;
  program: Program;
  /** Everything imported or exported from elsewhere, types and dynamic imports too. */
  imports: Reference[];
  /** Files that are named otherwise, such as the program of a worker: `./x.ts` in a string. */
  mentions: string[];
}

export interface Reference {
  /** A file of the repository, or the name of a package. */
  target: string;
  line: number;
}

/** Parses one file. Throws on text that is not TypeScript. */
export function parseSource(path: string, text: string): SourceFile {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const imports: Reference[] = [];
  const mentions: string[] = [];
  const refer = (node: { value: unknown; start: number } | null): void => {
    if (typeof node?.value !== "string") return;
    imports.push({ target: resolveTarget(path, node.value), line: lineAt(text, node.start) });
  };
  new Visitor({
    ImportDeclaration: (node) => refer(node.source),
    ExportNamedDeclaration: (node) => refer(node.source),
    ExportAllDeclaration: (node) => refer(node.source),
    ImportExpression: (node) => refer(node.source.type === "Literal" ? node.source : null),
    TSImportType: (node) => refer(node.source),
    Literal(node) {
      if (typeof node.value === "string" && /^\.\.?\/.*\.ts$/.test(node.value)) {
        mentions.push(resolveTarget(path, node.value));
      }
    },
    // `./helper.${extension}`: which of the two it is depends on whether the sources or their build run.
    TemplateLiteral(node) {
      const [first = ""] = node.quasis.map((part) => part.value.raw);
      if (/^\.\.?\/.*\.$/.test(first)) mentions.push(resolveTarget(path, `${first}ts`));
    },
  }).visit(program);
  return { path, text, program, imports, mentions };
}

function resolveTarget(from: string, target: string): string {
  return target.startsWith(".") ? posix.join(posix.dirname(from), target) : target;
}

/** The line, from 1, of a position in a text. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** Every TypeScript file of the named folders, parsed. */
export function readSources(folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .toSorted()
    .map((path) => parseSource(path, readFileSync(join(ROOT, path), "utf8")));
}

/** Whether a file is a test or serves tests alone. */
export function isTestFile(path: string): boolean {
  return path.endsWith(".test.ts") || /(^|\/)(test|testing)\/|\/test_\w+\.ts$|_rig\.ts$/.test(path);
}
