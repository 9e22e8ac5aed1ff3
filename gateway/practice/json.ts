import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { isJsonObject } from "../../src/protocol/json.ts";

/** A text or number as text; anything else is the empty text, which is no id, name or value of Discord's. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The objects of a list; none where it is no list. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
