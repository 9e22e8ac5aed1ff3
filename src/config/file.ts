import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { parse, TomlError } from "smol-toml";
import { absolutePath } from "./paths.ts";
import { isTable } from "./read.ts";

export type FileReading = { ok: true; table: Record<string, unknown>; text: string } | { ok: false; error: string };

/** Reads a TOML file. `required`: it was asked for by name, so that its absence is an error. */
export function readTomlFile(path: string, required: boolean): FileReading {
  const read = readText(path);
  if (!read.ok) {
    if (read.missing && !required) return { ok: true, table: {}, text: "" };
    const remedy = "Put a file there that this user may read, or name another with --config or TURNSTONE_CONFIG.";
    return { ok: false, error: `The settings file ${path} cannot be read: ${read.why}. ${remedy}` };
  }
  try {
    return { ok: true, table: parse(read.text, { integersAsBigInt: "asNeeded" }), text: read.text };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = "is not TOML"] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    return { ok: false, error: `${path}, line ${error.line}: this is not TOML: ${what}.` };
  }
}

/** A file's text, or why there is none in words. */
export function readText(path: string): { ok: true; text: string } | { ok: false; missing: boolean; why: string } {
  try {
    return { ok: true, text: readFileSync(path, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { ok: false, missing: code === "ENOENT", why: FILE_ERRORS[code] ?? `the system says ${code}` };
  }
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
};

/** The line, from 1, where a key stands in a TOML text; null when it cannot be told by looking at heads and keys. */
export function lineOf(text: string, at: readonly string[]): number | null {
  let section = "";
  const rowCounts = new Map<string, number>();
  let best: number | null = null;
  const wanted = at.join(".");
  for (const [index, line] of text.split("\n").entries()) {
    const head = /^\s*\[(\[?)([^\]]+)\]/.exec(line);
    if (head !== null) {
      section = plainKey(head[2] ?? "");
      if (head[1] === "[") {
        const row = rowCounts.get(section) ?? 0;
        rowCounts.set(section, row + 1);
        section = `${section}.${row}`;
      }
      if (wanted === section || wanted.startsWith(`${section}.`)) best = index + 1;
      if (wanted === section || section.startsWith(`${wanted}.`)) return index + 1;
      continue;
    }
    const key = /^\s*([\w.\-"' ]+?)\s*=/.exec(line);
    if (key === null) continue;
    const here = section === "" ? plainKey(key[1] ?? "") : `${section}.${plainKey(key[1] ?? "")}`;
    if (here === wanted || wanted.startsWith(`${here}.`)) return index + 1;
  }
  return best;
}

function plainKey(key: string): string {
  return key.replace(/["'\s]/g, "");
}

/** What `${env:NAME}` and `${file:path}` are looked up in. */
export interface Lookup {
  env: Readonly<Record<string, string | undefined>>;
  file: string;
  home: string;
  place: (at: readonly string[]) => string;
  problems: string[];
}

/** The same tree with every `${env:NAME}` and `${file:path}` in its texts replaced. */
export function interpolate(value: unknown, at: readonly string[], lookup: Lookup): unknown {
  if (typeof value === "string") return interpolateText(value, at, lookup);
  if (Array.isArray(value)) return value.map((item, index) => interpolate(item, [...at, String(index)], lookup));
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, [...at, key], lookup)]));
}

function interpolateText(text: string, at: readonly string[], lookup: Lookup): string {
  return text.replace(/\$\{(env|file):([^}]*)\}/g, (_whole, kind: string, name: string) => {
    if (kind === "env") {
      const value = lookup.env[name];
      if (value !== undefined && value !== "") return value;
      lookup.problems.push(`${lookup.place(at)}: the variable ${name} that \${env:${name}} asks for is not set.`);
      return "";
    }
    const path = absolutePath(name.trim(), { home: lookup.home, folder: dirname(lookup.file) });
    const read = readText(path);
    // A file written with an editor ends in a line break that is no part of a key.
    if (read.ok) return read.text.replace(/\r?\n$/, "");
    lookup.problems.push(`${lookup.place(at)}: the file ${path} cannot be read: ${read.why}.`);
    return "";
  });
}
