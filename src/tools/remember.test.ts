import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryStore, type TemporaryStore } from "../../test/support/temporary_store.ts";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { JsonObject } from "../protocol/json.ts";
import { rememberTool } from "./remember.ts";

const tool = rememberTool();
let bench: ToolBench;
let kept: TemporaryStore;
beforeEach(async () => {
  kept = await temporaryStore();
  bench = toolBench({ memories: kept.store.memories });
});
afterEach(async () => {
  bench.remove();
  await kept.remove();
});

async function remember(args: JsonObject): Promise<{ output: string; is_error: boolean }> {
  const result = await bench.call(tool, args);
  return result.prepared ? result : { output: result.error, is_error: true };
}

async function stored(): Promise<[scope: string, key: string, value: string][]> {
  const reach = { user_id: bench.context.user_id, workspace: bench.root };
  const rows = await kept.store.memories.list(reach, 50);
  return rows.map(({ scope, key, value }) => [scope, key, value]);
}

test("a memory is saved, and saving again tells what stood there", async () => {
  expect(await remember({ key: "colour", value: "blue" })).toMatchObject({ output: "Saved colour (user)." });
  expect(await remember({ key: "colour", value: "red" })).toMatchObject({
    output: "Updated colour (user). Before, it was: blue",
  });
  expect(await remember({ key: "colour", value: "red" })).toMatchObject({
    output: "colour (user) already had this value.",
  });
  expect(await stored()).toEqual([["user", "colour", "red"]]);
});

test("one's own memory is saved unasked, a global one after a yes of its own kind (REQ-TOOL-026)", () => {
  expect(tool.prepare({ key: "a", value: "b" }, bench.context)).toMatchObject({ needs_approval: false });
  expect(tool.prepare({ key: "a", value: "b", scope: "global" }, bench.context)).toMatchObject({
    needs_approval: true,
    approval_label: "remember_global",
    header: "remember: a (global)",
    preview: "b",
  });
});

test("scopes keep one key apart", async () => {
  for (const scope of ["user", "workspace", "global"]) await remember({ key: "k", value: scope, scope });
  expect((await stored()).map(([scope]) => scope).toSorted()).toEqual(["global", "user", "workspace"]);
  bench.with({ user_id: "c".repeat(32) });
  expect((await stored()).map(([scope]) => scope).toSorted()).toEqual(["global", "workspace"]);
  bench.with({ user_id: null });
  expect(await remember({ key: "k", value: "v" })).toMatchObject({ is_error: true });
  expect(await remember({ key: "k", value: "v", scope: "planet" })).toMatchObject({ is_error: true });
});

test.each([
  ["  User - Name  ", "user_name"],
  ["Cafe\u0301", "caf\u00e9"],
  ["CAF\u00c9", "caf\u00e9"],
  ["a\u00a0\n b", "a_b"],
  ["k\0ey", "key"],
  ["\uff11", "\uff11"],
])("the key %j is kept as %j (STOR-05)", async (key, form) => {
  await remember({ key, value: "x" });
  expect(await stored()).toEqual([["user", form, "x"]]);
});

test.each(["", "   ", "x".repeat(129), 5])("the key %j is refused in words", async (key) => {
  expect(await remember({ key, value: "x" })).toMatchObject({ is_error: true, output: expect.stringContaining("key") });
});

test("NUL and half surrogate pairs are cleaned away, and 1 MB is refused with a reason (STOR-06)", async () => {
  await remember({ key: "odd", value: "a\0b\ud800c" });
  expect(await stored()).toEqual([["user", "odd", "ab\ufffdc"]]);
  expect(await remember({ key: "big", value: "x".repeat(1024 * 1024) })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("1,048,576 bytes"),
  });
  expect(await remember({ key: "fits", value: "x".repeat(64 * 1024) })).toMatchObject({ is_error: false });
  expect(await remember({ key: "empty", value: " " })).toMatchObject({ is_error: true });
});

test("two saves of one key at once leave one row (STOR-07)", async () => {
  const results = await Promise.all(["1", "2"].map((value) => remember({ key: "a", value })));
  expect(results.every((result) => !result.is_error)).toBe(true);
  expect(await stored()).toHaveLength(1);
});
