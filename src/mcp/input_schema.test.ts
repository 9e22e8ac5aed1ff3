import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/json.ts";
import { mendSchema } from "./input_schema.ts";

function mended(input: unknown): JsonObject {
  const result = mendSchema(input);
  if (!result.ok) throw new Error(result.why);
  return result.schema;
}

test.each([
  ["none at all", undefined],
  ["null", null],
  ["an empty one", {}],
  ["an object without properties", { type: "object" }],
  [
    "one that names itself",
    { $schema: "http://json-schema.org/draft-07/schema#", $id: "x", type: "object", properties: {} },
  ],
])("%s becomes an object that takes nothing in particular (MCP-14)", (_name, input) => {
  expect(mended(input)).toEqual({ type: "object", properties: {} });
});

test("references are resolved, and one that leads to itself ends (MCP-14)", () => {
  const node = { type: "object", properties: { label: { type: "string" }, next: { $ref: "#/$defs/node" } } };
  const schema = mended({
    type: "object",
    properties: { first: { $ref: "#/$defs/node", description: "where to begin" }, gone: { $ref: "#/$defs/gone" } },
    $defs: { node },
  });
  expect(JSON.stringify(schema)).not.toContain("$ref");
  expect(schema["properties"]).toEqual({
    first: { type: "object", properties: { label: { type: "string" }, next: {} }, description: "where to begin" },
    gone: {},
  });
});

test("alternatives at the top become one object (MCP-14)", () => {
  const schema = mended({
    anyOf: [
      { type: "object", properties: { id: { type: "string" }, both: { type: "number" } }, required: ["id", "both"] },
      { properties: { name: { type: "string" }, both: { type: "number" } }, required: ["name", "both"] },
    ],
    allOf: [{ properties: { always: { type: "boolean" } }, required: ["always"] }],
  });
  expect(Object.keys(schema["properties"] as JsonObject).toSorted()).toEqual(["always", "both", "id", "name"]);
  expect(schema["required"]).toEqual(["always", "both"]);
  expect(schema).not.toHaveProperty("anyOf");
  expect(schema).not.toHaveProperty("allOf");
});

test("what is not valid in itself is left open rather than refused (MCP-14)", () => {
  const schema = mended({
    type: ["object", "null"],
    properties: {
      kind: { type: "any", enum: [] },
      match: { type: "string", pattern: "(?i)[a-" },
      list: { type: "array" },
      pair: { type: "array", items: [{ type: "string" }, { type: "number" }] },
      size: { type: "integer", minimum: 0, exclusiveMinimum: true },
      odd: null,
      $filter: { type: "string" },
    },
    required: "kind",
  });
  expect(schema).toEqual({
    type: "object",
    properties: {
      kind: {},
      match: { type: "string" },
      list: { type: "array", items: {} },
      pair: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
      size: { type: "integer", minimum: 0, exclusiveMinimum: 0 },
      odd: {},
    },
  });
});

test.each([
  ["arguments that are no object", { type: "string" }],
  ["text", "object"],
  ["a parameter that no provider takes and that must be there", { properties: { "a b": {} }, required: ["a b"] }],
  ["a book", { properties: { a: { description: "x".repeat(70_000) } } }],
])("a tool with %s is refused with a reason (MCP-14)", (_name, input) => {
  const result = mendSchema(input);
  expect(result).toMatchObject({ ok: false, why: expect.stringMatching(/\w/) });
});

test("a schema of great depth ends somewhere", () => {
  let schema: JsonObject = { type: "string" };
  for (let depth = 0; depth < 5000; depth += 1) schema = { type: "object", properties: { deeper: schema } };
  expect(JSON.stringify(mended(schema)).length).toBeLessThan(5000);
});
