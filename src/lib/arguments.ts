import type { JsonObject } from "../protocol/json.ts";

export type ArgumentText = { ok: true; value: string } | { ok: false; error: string };
export type ArgumentInteger = { ok: true; value: number | null } | { ok: false; error: string };

/** A required text. Anything else than a string is an error, not a string made of it. */
export function textArgument(args: JsonObject, name: string): ArgumentText {
  const value = ownArgument(args, name);
  if (typeof value === "string") return { ok: true, value };
  const got =
    value === undefined
      ? "it is missing"
      : `it is ${Array.isArray(value) ? "an array" : value === null ? "null" : `of type ${typeof value}`}`;
  return { ok: false, error: `${name} must be a string, but ${got}. Send ${name} as one JSON string.` };
}

/** A whole number of at least `min`, also written as text; null when it is absent. */
export function integerArgument(args: JsonObject, name: string, min: number): ArgumentInteger {
  const value = ownArgument(args, name);
  if (value === undefined || value === null) return { ok: true, value: null };
  const number = typeof value === "string" && /^\s*[+-]?\d+(\.0*)?\s*$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= min) return { ok: true, value: number };
  return {
    ok: false,
    error: `${name} must be a whole number of at least ${min}, but it is ${JSON.stringify(value).slice(0, 100)}.`,
  };
}

function ownArgument(args: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}
