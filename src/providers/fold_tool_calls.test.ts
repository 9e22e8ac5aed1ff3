import { expect, test } from "vitest";
import { ToolCallFold } from "./fold_tool_calls.ts";
import type { ToolCallDelta } from "./fold_tool_calls.ts";

function fold(...deltas: ToolCallDelta[]): [string, string, string][] {
  const calls = new ToolCallFold();
  for (const delta of deltas) calls.push(delta);
  return calls.calls().map((call) => [call.id, call.name, call.arguments]);
}

test("two ids on index 0 with pieces that take turns (PROV-02)", () => {
  expect(
    fold(
      { index: 0, id: "a", name: "f", arguments: "" },
      { index: 0, id: "b", name: "g", arguments: "" },
      { index: 0, id: "a", arguments: '{"x":' },
      { index: 0, id: "b", arguments: '{"y":2}' },
      { index: 0, arguments: "1}" },
    ),
  ).toEqual([
    ["a", "f", '{"x":1}'],
    ["b", "g", '{"y":2}'],
  ]);
});

test("calls without ids and indexes are told apart by their names (PROV-01, PROV-03)", () => {
  expect(fold({ name: "f", arguments: '{"x":' }, { arguments: '"}{"}' }, { name: "f", arguments: "{}" })).toEqual([
    ["", "f", '{"x":"}{"}'],
    ["", "f", "{}"],
  ]);
});

test("one id for two whole calls is two calls (PROV-04)", () => {
  expect(
    fold({ index: 0, id: "c", name: "f", arguments: "{}" }, { index: 0, id: "c", name: "f", arguments: "{}" }),
  ).toHaveLength(2);
  expect(
    fold({ index: 0, id: "c", name: "f", arguments: "{}" }, { index: 1, id: "c", name: "f", arguments: "{}" }),
  ).toHaveLength(2);
});

test("id and name in each piece, an id that comes late, a piece of noise", () => {
  const again = { index: 0, id: "a", name: "f" };
  expect(fold({ ...again, arguments: '{"x"' }, { ...again, arguments: ":1" }, { ...again, arguments: "}" })).toEqual([
    ["a", "f", '{"x":1}'],
  ]);
  expect(fold({ index: 0, name: "f" }, { index: 0, id: "late", arguments: "{}" })).toEqual([["late", "f", "{}"]]);
  expect(fold({ index: 3, arguments: "" })).toEqual([]);
});

test("a call without arguments, then another", () => {
  expect(
    fold({ index: 0, id: "a", name: "f", arguments: "" }, { index: 1, id: "b", name: "g", arguments: "" }),
  ).toEqual([
    ["a", "f", ""],
    ["b", "g", ""],
  ]);
});
