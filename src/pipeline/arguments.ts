import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { RegisteredTool } from "../catalog/registered_tool.ts";
import { repairObject } from "./repair.ts";

/** `rescued`: the model did not write a JSON object; somebody must see what we made of it before it has an effect. */
export type ParsedArguments = { ok: true; args: JsonObject; rescued: boolean } | { ok: false; error: string };

/** Characters of the model's text that an error shows back to it. */
const SHOWN_LENGTH_MAX = 500;

/** Characters of arguments that are looked at; more is a runaway model, not a call. */
const ARGUMENTS_LENGTH_MAX = 2_000_000;

/**
 * From the text that a model wrote to checked arguments. A JSON object is taken as it is, nothing or `null` as `{}`, a
 * bare text as the tool's primary argument; broken JSON is mended only where all of it is understood.
 */
export async function parseArguments(text: string, entry: RegisteredTool): Promise<ParsedArguments> {
  if (text.length > ARGUMENTS_LENGTH_MAX) {
    return refusal(text, entry, `are longer than ${ARGUMENTS_LENGTH_MAX} characters`);
  }
  const read = readObject(text, entry.definition.primary_key);
  if (!read.ok) return refusal(text, entry, read.error);
  const args = acceptNumbersInText(read.args, entry.definition.parameters);
  const problem = unsafeNumber(args) ?? (await entry.check(args));
  if (problem !== null) return refusal(text, entry, `do not fit: ${problem}`);
  return { ok: true, args, rescued: read.rescued };
}

function refusal(text: string, entry: RegisteredTool, what: string): ParsedArguments {
  const { name, parameters } = entry.definition;
  const properties = isJsonObject(parameters["properties"]) ? Object.keys(parameters["properties"]) : [];
  const required = Array.isArray(parameters["required"]) ? parameters["required"].map(String) : [];
  const keys = properties.map((key) => (required.includes(key) ? `${key} (required)` : key)).join(", ");
  const shown = text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
  return {
    ok: false,
    error: `The arguments of ${name} ${what}. Expected a JSON object with the keys ${keys}. Nothing was run. What came: ${shown}`,
  };
}

type ReadObject = { ok: true; args: JsonObject; rescued: boolean } | { ok: false; error: string };

function readObject(text: string, primary_key: string): ReadObject {
  const trimmed = text.trim();
  if (trimmed === "") return { ok: true, args: {}, rescued: false };
  const strict = parseJson(trimmed);
  if (strict.ok) return readValue(strict.value, primary_key);
  if (/^[{["'`]/.test(trimmed)) {
    const repaired = repairObject(trimmed);
    return repaired === null
      ? { ok: false, error: `are not valid JSON (${strict.error})` }
      : { ok: true, args: repaired, rescued: true };
  }
  if (/^<[a-z_]+[=>\s]/i.test(trimmed)) return { ok: false, error: "are written as tags, not as JSON" };
  return { ok: true, args: { [primary_key]: text }, rescued: true };
}

function readValue(value: JsonValue, primary_key: string): ReadObject {
  if (value === null) return { ok: true, args: {}, rescued: false };
  if (isJsonObject(value)) return { ok: true, args: value, rescued: false };
  if (typeof value !== "string") return { ok: false, error: "are JSON, but not an object" };
  const inner = parseJson(value.trim());
  if (inner.ok && isJsonObject(inner.value)) return { ok: true, args: inner.value, rescued: true };
  return { ok: true, args: { [primary_key]: value }, rescued: true };
}

function parseJson(text: string): { ok: true; value: JsonValue } | { ok: false; error: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message.slice(0, 200) : "unreadable" };
  }
}

/** A whole number in a text is taken for an integer parameter; nothing else changes its type. */
function acceptNumbersInText(args: JsonObject, schema: JsonObject): JsonObject {
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return args;
  const changed: JsonObject = Object.create(null);
  for (const [key, value] of Object.entries(args)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const wants_integer = isJsonObject(property ?? null) && (property as JsonObject)["type"] === "integer";
    changed[key] =
      wants_integer && typeof value === "string" && /^\s*-?\d{1,15}(\.0+)?\s*$/.test(value) ? Number(value) : value;
  }
  return { ...changed };
}

function unsafeNumber(args: JsonObject): string | null {
  for (const [key, value] of Object.entries(args)) {
    if (typeof value === "number" && (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)) {
      return `${key} is a number beyond what can be counted exactly`;
    }
  }
  return null;
}
