import { nearestNames } from "../lib/nearest.ts";
import { listed } from "./field.ts";
import type { Field, Names, Node, Rows, Section, Surroundings } from "./field.ts";

/** A value from a variable or a flag. */
export interface Override {
  /** How a message calls the place that it came from. */
  origin: string;
  text: string;
  surroundings: Surroundings;
}

/** What a table of settings is read from, and what was wrong with it. */
export interface Reading {
  /** By dotted path. They win over the file. */
  overrides: ReadonlyMap<string, Override>;
  /** How a message calls the place of a key in the file: the file and, where it can be found, the line. */
  place: (at: readonly string[]) => string;
  /** Of the file. */
  surroundings: Surroundings;
  /** One sentence each. */
  problems: string[];
}

/** Reads a declaration. Whatever is wrong becomes a problem, and the fallback stands in for it. */
export function readNode(node: Node, value: unknown, at: readonly string[], reading: Reading): unknown {
  switch (node.kind) {
    case "field":
      return readField(node, value, at, reading);
    case "section":
      return readSection(node, value, at, reading);
    case "names":
      return readNames(node, value, at, reading);
    case "rows":
      return readRows(node, value, at, reading);
    case "optional":
      return value === undefined ? null : readNode(node.of, value, at, reading);
    default:
      return node satisfies never;
  }
}

function readField(field: Field<unknown>, value: unknown, at: readonly string[], reading: Reading): unknown {
  const override = reading.overrides.get(at.join("."));
  if (override !== undefined) {
    const parsed = field.parse(override.text, override.surroundings);
    if (parsed !== undefined) return parsed;
    reading.problems.push(refusal(override.origin, field, override.text));
    return field.fallback;
  }
  if (value === undefined) {
    if (field.required === true) {
      reading.problems.push(`${reading.place(at)}: ${keyName(at)} is missing; it must be ${field.allowed}.`);
    }
    return field.fallback;
  }
  const taken = field.read(value, reading.surroundings);
  if (taken !== undefined) return taken;
  reading.problems.push(refusal(`${reading.place(at)}: ${keyName(at)}`, field, value));
  return field.fallback;
}

function readSection(node: Section, value: unknown, at: readonly string[], reading: Reading): Record<string, unknown> {
  const table = tableOf(value, at, reading);
  for (const key of Object.keys(table)) {
    if (!Object.hasOwn(node.keys, key)) reading.problems.push(unknownKey(key, at, Object.keys(node.keys), reading));
  }
  const result: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(node.keys)) {
    if (node.partial && table[key] === undefined) continue;
    result[key] = readNode(child, table[key], [...at, key], reading);
  }
  return result;
}

function readNames(node: Names, value: unknown, at: readonly string[], reading: Reading): Record<string, unknown> {
  const table = tableOf(value, at, reading);
  // Without a prototype, since a person may call something `constructor`.
  const result: Record<string, unknown> = Object.create(null);
  for (const name of new Set([...Object.keys(table), ...overriddenNames(at, reading)])) {
    const here = [...at, name];
    if (!node.name.test(name)) {
      reading.problems.push(`${reading.place(here)}: "${name}" in [${at.join(".")}] must be ${node.allowed_name}.`);
      continue;
    }
    result[name] = readNode(node.of, table[name], here, reading);
  }
  return result;
}

function overriddenNames(at: readonly string[], reading: Reading): string[] {
  const prefix = `${at.join(".")}.`;
  return [...reading.overrides.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split(".")[0] ?? "");
}

function readRows(node: Rows, value: unknown, at: readonly string[], reading: Reading): unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    reading.problems.push(`${reading.place(at)}: ${at.join(".")} must be written as [[${at.join(".")}]].`);
    return [];
  }
  return value.map((row: unknown, index) => readNode(node.of, row, [...at, String(index)], reading));
}

function tableOf(value: unknown, at: readonly string[], reading: Reading): Record<string, unknown> {
  if (value === undefined) return {};
  if (isTable(value)) return value;
  reading.problems.push(`${reading.place(at)}: ${at.join(".")} must be a table, written as [${at.join(".")}].`);
  return {};
}

/** An object that is neither an array nor a date. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function unknownKey(key: string, at: readonly string[], allowed: readonly string[], reading: Reading): string {
  const [near] = nearestNames(key, allowed, 1);
  const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
  const what = at.length === 0 ? `[${key}] is not a section` : `${keyName([...at, key])} is not a setting`;
  return `${reading.place([...at, key])}: ${what}${hint}; allowed here are ${listed(allowed, "and")}.`;
}

/** `[server] port`. */
function keyName(at: readonly string[]): string {
  return `[${at.slice(0, -1).join(".")}] ${at.at(-1)}`;
}

// Enough to recognise the value, too little to fill a screen.
const SHOWN_VALUE_CHARACTERS_MAX = 80;

function refusal(origin: string, field: Field<unknown>, value: unknown): string {
  // JSON knows neither these nor what TOML calls inf and nan.
  const shown = typeof value === "bigint" || typeof value === "number" ? tomlNumber(value) : JSON.stringify(value);
  const but = field.secret ? "" : `, not ${shown.slice(0, SHOWN_VALUE_CHARACTERS_MAX)}`;
  return `${origin} must be ${field.allowed}${but}.`;
}

function tomlNumber(value: number | bigint): string {
  return String(value).replace("Infinity", "inf").replace("NaN", "nan");
}
