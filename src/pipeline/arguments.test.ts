import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { RegisteredTool } from "../catalog/registered_tool.ts";
import { schemaCheck } from "../catalog/schema_check.ts";
import { parseArguments } from "./arguments.ts";

const parameters = {
  type: "object",
  properties: {
    command: { type: "string" },
    path: { type: "string" },
    timeout: { type: "integer", minimum: 1 },
  },
  required: ["command"],
  additionalProperties: false,
};

function tool(primary_key = "command", required = ["command"]): RegisteredTool {
  const schema = { ...parameters, required };
  return {
    definition: {
      name: "bash",
      description: "for tests",
      parameters: schema,
      agent: false,
      task_agent: true,
      auto_approve: false,
      primary_key,
    },
    tool: {
      name: "bash",
      prepare: () => ({ ok: false, error: "not used" }),
      execute: () => Promise.reject(new Error("not used")),
    },
    check: schemaCheck(schema),
    built_in: true,
  };
}

const bash = tool();

async function args(text: string, entry = bash) {
  const parsed = await parseArguments(text, entry);
  return parsed.ok ? { ...parsed.args } : parsed.error;
}

test("an object is taken as it is", async () => {
  expect(await parseArguments('{"command":"ls","timeout":5}', bash)).toEqual({
    ok: true,
    args: { command: "ls", timeout: 5 },
    rescued: false,
  });
});

test.each(["", "  ", "null"])("nothing (%j) is an empty object (TC-03)", async (text) => {
  expect(await args(text, tool("command", []))).toEqual({});
});

test.each(["[]", "42", "true", "[1,2]"])("JSON that is no object (%s) is that call's error (TC-04)", async (text) => {
  expect(await args(text)).toMatch(/not an object/);
});

test("bare text becomes the primary argument, and somebody must see it", async () => {
  expect(await parseArguments("ls -la", bash)).toEqual({ ok: true, args: { command: "ls -la" }, rescued: true });
  expect(await parseArguments('"ls -la"', bash)).toMatchObject({ args: { command: "ls -la" }, rescued: true });
});

test("JSON in a JSON string is unwrapped once, never run as the text of the JSON (TC-05)", async () => {
  expect(await args(JSON.stringify('{"command":"ls"}'))).toEqual({ command: "ls" });
});

test("bare text that leaves another required argument open is refused (TC-09)", async () => {
  expect(await args("hello", tool("command", ["command", "path"]))).toMatch(/path is missing/);
});

test.each(['{"command":["rm","-rf","x"]}', '{"command":{"a":1}}', '{"command":7}', '{"command":true}'])(
  "no wrong type becomes a runnable value: %s (TC-06, REQ-ENGINE-031)",
  async (text) => {
    expect(await args(text)).toMatch(/command must be string/);
  },
);

test("tags instead of JSON are an error (TC-08)", async () => {
  expect(await args("<parameter=command>ls</parameter>")).toMatch(/tags/);
});

test.each([
  ['{"command":"ls","timeout":"5"}', { command: "ls", timeout: 5 }],
  ['{"command":"ls","timeout":"5.0"}', { command: "ls", timeout: 5 }],
  ['{"command":"ls","timeout":5.0}', { command: "ls", timeout: 5 }],
])("a whole number in a text counts for an integer: %s (FILE-16)", async (text, expected) => {
  expect(await args(text)).toEqual(expected);
});

test.each([
  '{"command":"ls","timeout":1e400}',
  '{"command":"ls","timeout":9007199254740993}',
  '{"command":"ls","timeout":"NaN"}',
])("numbers beyond counting are refused: %s (TC-14)", async (text) => {
  expect(await args(text)).toMatch(/timeout/);
});

test("keys of Object.prototype are keys like any other", async () => {
  expect(await args('{"command":"ls","__proto__":{"x":1}}')).toMatch(/not known/);
  expect(await args('{"command":"ls","constructor":1}')).toMatch(/constructor is not known/);
});

test.each([
  ["{'command': 'ls'}", { command: "ls" }],
  ['{"command": "ls",}', { command: "ls" }],
  ["{command: 'ls'}", { command: "ls" }],
  ['```json\n{"command": "ls"}\n```', { command: "ls" }],
  ['{"command": "echo a\necho b"}', { command: "echo a\necho b" }],
])("careless JSON that is understood whole is mended: %j", async (text, expected) => {
  const parsed = await parseArguments(text, bash);
  expect(parsed).toEqual({ ok: true, args: expected, rescued: true });
});

test.each([
  '{"command": "rm -rf /tmp/build',
  '{"command": "rm -rf /tmp/build"',
  '{"command": "dir C:\\Users"}',
  '{"command": "a"} {"command": "b"}',
  '{"command": "ls", "path": }',
])("a text that stops early or cannot be understood whole is refused: %j", async (text) => {
  expect(await args(text)).toMatch(/not valid JSON/);
});

test("an error names the tool, the keys and at most 500 characters of what came", async () => {
  const error = await args(`[${"x".repeat(5000)}`);
  expect(error).toMatch(/bash/);
  expect(error).toMatch(/command \(required\)/);
  expect(JSON.stringify(error).length).toBeLessThan(1000);
});

test("no beginning of a call is ever finished for its author (REQ-ENGINE-032)", async () => {
  const call = fc.record({ command: fc.string({ unit: "grapheme", minLength: 1 }), path: fc.string() });
  await fc.assert(
    fc.asyncProperty(call, fc.nat(), async (value, at) => {
      const text = JSON.stringify(value);
      const cut = text.slice(0, 1 + (at % (text.length - 1)));
      const parsed = await parseArguments(cut, bash);
      expect(parsed.ok).toBe(false);
    }),
  );
});

test("whatever a model writes, an accepted command stood in its text, character for character", async () => {
  const careless = fc
    .tuple(
      fc.string({ unit: "grapheme-ascii" }),
      fc.constantFrom("'", '"', "`", ""),
      fc.constantFrom("}", ",}", "", "} "),
    )
    .map(([text, quote, end]) => `{${quote}command${quote}: ${quote}${text}${quote}${end}`);
  await fc.assert(
    fc.asyncProperty(fc.oneof(careless, fc.string({ unit: "grapheme-ascii" })), async (text) => {
      const parsed = await parseArguments(text, bash);
      if (!parsed.ok || !parsed.rescued) return;
      const command = JSON.stringify(parsed.args["command"]);
      const plain = (value: string): string => value.replace(/\\[nrt"']|[\s"'`\\,]/g, "");
      expect(plain(text)).toContain(plain(command));
    }),
    { numRuns: 500 },
  );
});
