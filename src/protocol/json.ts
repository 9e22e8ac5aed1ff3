/** What JSON can hold: the only values that cross a process or enter the store. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object. Keys that came from outside are looked up with `Object.hasOwn`, never by prototype. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
