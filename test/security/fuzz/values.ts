import type { Random } from "./random.ts";

export type Schema = Record<string, unknown>;

/** Texts that have broken servers before: encodings, separators, paths, queries, templates, formats. */
const NASTY_TEXTS = [
  "",
  " ",
  "\0",
  "\ud800",
  "é́",
  "\u202e\u2066",
  "\r\nSet-Cookie: a=b",
  "../../../../etc/passwd",
  "..%2f..%2f",
  "%00",
  "%",
  "*",
  '"',
  "'; drop table users; --",
  "' or '1'='1",
  "a AND b NEAR/2 c*",
  "{{7*7}}",
  "${jndi:x}",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "-1",
  "1e309",
  "9".repeat(400),
  "x".repeat(5000),
  "(a+)+$",
  "/help",
  "/model __proto__",
  "/grants revoke 99999999999999999999",
  "2026-13-45T99:99:99Z",
];

const NASTY_NUMBERS = [0, -0, -1, 1, 0.5, 1e9, 1e21, -1e308, 2 ** 53, Number.MAX_VALUE, 5e-324];

const NASTY_VALUES = [null, true, false, [], {}, [[]], [{}], { __proto: 1 }, "true", "1", 1];

const TEXT = ["hello", "a b", "ada", "discord", "bash", "read,write", "1", "2026-01-01T00:00:00.000Z", "/status"];

export function nastyText(random: Random): string {
  const text = random.one(NASTY_TEXTS);
  return random.chance(0.2) ? text + random.one(NASTY_TEXTS) : text;
}

/** A value for a schema: mostly one that passes, sometimes one that should not. */
export function valueFor(schema: Schema, random: Random, depth = 0): unknown {
  if (random.chance(0.06)) return anything(random);
  const {
    enum: choices,
    const: only,
    anyOf,
    type,
  } = schema as { enum?: unknown[]; const?: unknown; anyOf?: Schema[]; type?: string };
  if (choices !== undefined) return random.chance(0.9) ? random.one(choices) : nastyText(random);
  if (only !== undefined) return only;
  if (anyOf !== undefined) return valueFor(random.one(anyOf), random, depth);
  switch (type) {
    case "object":
      return objectFor(schema, random, depth);
    case "array":
      return Array.from({ length: random.one([0, 1, 1, 2, 30]) }, () =>
        valueFor((schema["items"] ?? {}) as Schema, random, depth + 1),
      );
    case "string":
      return textFor(schema, random);
    case "integer":
    case "number":
      return random.chance(0.6) ? random.below(50) : random.one(NASTY_NUMBERS);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    default:
      return anything(random);
  }
}

function objectFor(schema: Schema, random: Random, depth: number): unknown {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (random.chance(required.includes(name) ? 0.97 : 0.5)) made[name] = valueFor(property, random, depth + 1);
  }
  if (random.chance(0.05)) made[random.one(["extra", "constructor", "toString", ""])] = anything(random);
  return made;
}

function textFor(schema: Schema, random: Random): string {
  const { maxLength } = schema as { maxLength?: number };
  if (maxLength !== undefined && random.chance(0.1)) return "x".repeat(maxLength + random.below(3) - 1);
  return random.chance(0.6) ? random.one(TEXT) : nastyText(random);
}

function anything(random: Random): unknown {
  return random.one([() => random.one(NASTY_VALUES), () => nastyText(random), () => random.one(NASTY_NUMBERS)])();
}

/** A body that is not what the header says, or not JSON at all. */
export function brokenBody(random: Random): string {
  return random.one([
    () => "",
    () => "{",
    () => "[".repeat(100_000),
    () => `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
    () => '{"a":1,"a":2}',
    () => '{"__proto__":{"admin":true}}',
    () => '{"constructor":{"prototype":{"admin":true}}}',
    () => "\ufeff{}",
    () => "NaN",
    () => '"\\ud800"',
    () => `{"message":"${"x".repeat(1_100_000)}"}`,
    () => "--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nabc\r\n--x--",
    () => String(random.fraction()),
  ])();
}
