import { expect, test } from "vitest";
import type { JsonValue } from "../protocol/json.ts";
import { readForm } from "../mcp/form.ts";
import { takeValues } from "./mcp_form.ts";

/** What a field of a server's schema makes of what a person typed. */
function taken(property: Record<string, JsonValue>, value: JsonValue): JsonValue {
  const form = readForm({ type: "object", properties: { it: property }, required: ["it"] });
  if (!form.ok) return `refused: ${form.error}`;
  const result = takeValues(form.fields, { it: value });
  if (!result.ok) return result.error;
  return result.missing.length > 0 ? "missing" : (result.values["it"] ?? null);
}

const CHOICE = {
  type: "string",
  title: "Pet",
  oneOf: [
    { const: "c", title: "Cat" },
    { const: "d", title: "Dog" },
  ],
};
const SEVERAL = { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b", "c"] } };

test.each<[string, Record<string, JsonValue>, JsonValue, JsonValue]>([
  ["a text", { type: "string" }, "x", "x"],
  ["nothing", { type: "string" }, "", "missing"],
  ["null", { type: "string" }, null, "missing"],
  ["a number for a text", { type: "string" }, 4, "it: a text is asked for."],
  ["too short", { type: "string", minLength: 3 }, "ab", "it: at least 3 characters are asked for."],
  ["too long", { type: "string", maxLength: 1 }, "ab", "it: at most 1 characters are asked for."],
  ["one emoji of length one", { type: "string", maxLength: 1 }, "🦆", "🦆"],
  ["an e-mail address", { type: "string", format: "email" }, "a@b.example", "a@b.example"],
  [
    "no e-mail address",
    { type: "string", format: "email" },
    "a b@c",
    "it: an e-mail address is asked for, such as ana@example.org.",
  ],
  ["a day", { type: "string", format: "date" }, "2026-02-28", "2026-02-28"],
  ["no day", { type: "string", format: "date" }, "2026-02-30", "it: a date is asked for, such as 2026-03-31."],
  ["a moment", { type: "string", format: "date-time" }, "2026-02-28T10:00:00+01:00", "2026-02-28T10:00:00+01:00"],
  ["digits", { type: "number" }, "2.5", 2.5],
  ["half of a whole", { type: "integer" }, "2.5", "it: a whole number is asked for."],
  ["no number", { type: "number" }, "NaN", "it: a number is asked for."],
  ["too little", { type: "integer", minimum: 3 }, 2, "it: at least 3 is asked for."],
  ["a word for yes", { type: "boolean" }, "Yes", true],
  ["no is an answer", { type: "boolean" }, "no", false],
  ["neither", { type: "boolean" }, "maybe", "it: yes or no is asked for."],
  ["a choice by its title", CHOICE, "Dog", "d"],
  ["no choice", CHOICE, "Cow", "Pet: one of these is asked for: Cat, Dog."],
  ["two for one", CHOICE, ["c", "d"], "Pet: one choice is asked for."],
  ["several", SEVERAL, ["a", "c"], ["a", "c"]],
  ["too many", SEVERAL, ["a", "b", "c"], "it: at most 2 are asked for."],
  ["a nested object", { type: "object" }, "x", 'refused: "it" is of no known kind'],
])("a field of a form takes %s as it should", (_what, property, value, expected) => {
  expect(taken(property, value)).toEqual(expected);
});

test("a name that means something to JavaScript is a name like others", () => {
  const form = readForm({ type: "object", properties: JSON.parse('{"__proto__": {"type": "string"}}') as JsonValue });
  if (!form.ok) throw new Error(form.error);
  const given = JSON.parse('{"__proto__": "x"}') as Record<string, string>;
  const result = takeValues(form.fields, given);
  expect(JSON.stringify(result)).toBe('{"ok":true,"values":{"__proto__":"x"},"missing":[]}');
});
