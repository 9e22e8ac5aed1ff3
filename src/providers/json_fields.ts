import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";

/** A field that should be an object; empty when it is something else. */
export function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a field that should be a list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A text; undefined when it is something else. */
export function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A count; 0 when it is missing. */
export function countIn(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
