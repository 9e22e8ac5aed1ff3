import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";

export type MendedSchema = { ok: true; schema: JsonObject } | { ok: false; why: string };

/** Deeper schemas describe anything there: no model fills in so much. */
const DEPTH_MAX = 24;

/** Characters of one tool's schema: it is a part of every request in which the tool is seen. */
const SCHEMA_LENGTH_MAX = 65_536;

/** What Anthropic takes as the name of a property at the top. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

/** Keys that identify a schema or hold parts of it; of no use once references are resolved. */
const DROPPED = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$vocabulary",
  "$comment",
  "$defs",
  "definitions",
  "additionalItems",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
]);
const SCHEMA_KEYS = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "additionalProperties",
  "items",
]);
const SCHEMA_LIST_KEYS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAP_KEYS = new Set(["properties", "patternProperties", "dependentSchemas"]);

/**
 * The schema of a remote tool's arguments in a form that every provider takes: an object with `properties`, without
 * references, without alternatives at the top, and without what is not valid in itself. The server still checks what it
 * gets, so what cannot be kept is left open rather than refused.
 */
export function mendSchema(input: unknown): MendedSchema {
  if (input === undefined || input === null) return { ok: true, schema: { type: "object", properties: {} } };
  if (!isJsonObject(input)) return { ok: false, why: "its input schema is not an object" };
  if (!mayBeObject(input["type"])) return { ok: false, why: "it takes arguments that are not an object" };
  const resolved = schemaOf(input, { root: input, resolving: new Set() }, 0);
  const schema = withoutAlternatives(resolved);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const name of Object.keys(properties)) {
    if (PROPERTY_NAME.test(name)) continue;
    if (required.includes(name)) return { ok: false, why: `providers do not take its parameter ${name.slice(0, 80)}` };
    delete properties[name];
  }
  const mended = { ...schema, type: "object", properties, ...(required.length === 0 ? {} : { required }) };
  if (JSON.stringify(mended).length > SCHEMA_LENGTH_MAX) return { ok: false, why: "its input schema is too long" };
  return { ok: true, schema: mended };
}

function mayBeObject(type: JsonValue | undefined): boolean {
  return typeof type !== "string" || type === "object" || !TYPES.has(type);
}

interface Scope {
  root: JsonObject;
  /** References that are being resolved: one that leads to itself stands for anything. */
  resolving: ReadonlySet<string>;
}

/** One schema, in a place where a schema belongs. */
function schemaOf(value: JsonValue | undefined, scope: Scope, depth: number): JsonObject {
  if (!isJsonObject(value) || depth > DEPTH_MAX) return {};
  const reference = value["$ref"];
  if (typeof reference === "string") return { ...referenced(reference, scope, depth), ...described(value) };
  const schema: JsonObject = {};
  for (const [key, part] of Object.entries(value)) {
    if (DROPPED.has(key)) continue;
    const kept = partOf(key, part, value, scope, depth);
    if (kept !== undefined) schema[key] = kept;
  }
  if (schema["type"] === "array" && schema["items"] === undefined) schema["items"] = {};
  return schema;
}

function described({ description, title }: JsonObject): JsonObject {
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof title === "string" ? { title } : {}),
  };
}

function referenced(reference: string, scope: Scope, depth: number): JsonObject {
  if (scope.resolving.has(reference)) return {};
  const target = lookUp(reference, scope.root);
  return schemaOf(target, { ...scope, resolving: new Set([...scope.resolving, reference]) }, depth + 1);
}

/** What a local JSON pointer (RFC 6901) leads to; undefined for everything else. */
function lookUp(reference: string, root: JsonObject): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: JsonValue | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One keyword's value, mended; undefined when the keyword is better left out. */
function partOf(key: string, part: JsonValue, owner: JsonObject, scope: Scope, depth: number): JsonValue | undefined {
  if (key === "items" && Array.isArray(part)) return { anyOf: part.map((item) => schemaOf(item, scope, depth + 1)) };
  if (SCHEMA_KEYS.has(key)) {
    if (typeof part === "boolean" && key === "additionalProperties") return part;
    return isJsonObject(part) ? schemaOf(part, scope, depth + 1) : undefined;
  }
  if (SCHEMA_LIST_KEYS.has(key)) {
    if (!Array.isArray(part) || part.length === 0) return undefined;
    return part.map((item) => schemaOf(item, scope, depth + 1));
  }
  if (SCHEMA_MAP_KEYS.has(key)) return isJsonObject(part) ? schemasOf(part, scope, depth) : undefined;
  return plainPart(key, part, owner);
}

function schemasOf(parts: JsonObject, scope: Scope, depth: number): JsonObject {
  const names = Object.keys(parts).filter((name) => name !== "__proto__");
  return Object.fromEntries(names.map((name) => [name, schemaOf(parts[name], scope, depth + 1)]));
}

const COUNTS = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minContains",
  "maxContains",
]);
const NUMBERS = new Set(["minimum", "maximum", "multipleOf"]);

function plainPart(key: string, part: JsonValue, owner: JsonObject): JsonValue | undefined {
  if (COUNTS.has(key)) return Number.isInteger(part) && Number(part) >= 0 ? part : undefined;
  if (NUMBERS.has(key)) return typeof part === "number" ? part : undefined;
  switch (key) {
    case "type":
      return knownType(part);
    case "enum":
      return Array.isArray(part) && part.length > 0 ? unique(part) : undefined;
    case "required":
      return Array.isArray(part) ? unique(part.filter((name) => typeof name === "string")) : undefined;
    case "pattern":
      return typeof part === "string" && isExpression(part) ? part : undefined;
    case "description":
    case "title":
    case "format":
    case "$ref":
      return typeof part === "string" ? part : undefined;
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      // Up to draft 4 it was a flag beside the limit.
      if (part === true) return owner[key === "exclusiveMinimum" ? "minimum" : "maximum"] ?? undefined;
      return typeof part === "number" ? part : undefined;
    default:
      return part;
  }
}

function knownType(part: JsonValue): JsonValue | undefined {
  if (typeof part === "string") return TYPES.has(part) ? part : undefined;
  if (!Array.isArray(part)) return undefined;
  const known = unique(part.filter((type) => typeof type === "string" && TYPES.has(type)));
  return known.length === 0 ? undefined : known;
}

function unique(values: readonly JsonValue[]): JsonValue[] {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...seen.values()];
}

function isExpression(pattern: string): boolean {
  try {
    RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

/** Providers refuse alternatives at the top: what each may have, all may have; what each must have, all must have. */
function withoutAlternatives(schema: JsonObject): JsonObject {
  const {
    anyOf,
    oneOf,
    allOf,
    not: _not,
    if: _if,
    then,
    else: otherwise,
    enum: _enum,
    const: _const,
    ...rest
  } = schema;
  const together = objectsOf(allOf);
  const either = [...objectsOf(anyOf), ...objectsOf(oneOf)].map(withoutAlternatives);
  const optional = [then, otherwise].filter(isJsonObject);
  const all = [rest, ...together.map(withoutAlternatives)];
  const properties: JsonObject = {};
  for (const part of [...optional, ...either, ...all.toReversed()]) {
    if (isJsonObject(part["properties"])) Object.assign(properties, part["properties"]);
  }
  const common = either
    .map(requiredOf)
    .reduce<string[] | null>(
      (kept, names) => (kept === null ? names : kept.filter((name) => names.includes(name))),
      null,
    );
  const required = [...new Set([...all.flatMap(requiredOf), ...(common ?? [])])];
  const { required: _required, ...others } = rest;
  const closed = either.length + together.length + optional.length > 0 ? { additionalProperties: true } : {};
  return { ...others, ...closed, properties, ...(required.length === 0 ? {} : { required }) };
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function requiredOf({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}
