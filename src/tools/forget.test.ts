import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryStore, type TemporaryStore } from "../../test/support/temporary_store.ts";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import { forgetTool } from "./forget.ts";
import { rememberTool } from "./remember.ts";

const tool = forgetTool();
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

test.each([
  ["Caf\u00e9", "cafe\u0301"],
  ["My Key", "my-key"],
  ["\u0130x", "\u0130X"],
])("what was kept as %j is found as %j (STOR-05)", async (kept_as, named) => {
  await bench.call(rememberTool(), { key: kept_as, value: "x" });
  expect(await bench.call(tool, { key: named })).toMatchObject({ is_error: false, effect: "done" });
  expect(await bench.call(tool, { key: named })).toMatchObject({
    is_error: true,
    output: expect.stringContaining("There is no memory"),
  });
});

test("only the named scope is touched, and everybody's takes a yes (REQ-TOOL-028)", async () => {
  await bench.call(rememberTool(), { key: "k", value: "mine" });
  await bench.call(rememberTool(), { key: "k", value: "ours", scope: "workspace" });
  expect(await bench.call(tool, { key: "k", scope: "workspace" })).toMatchObject({ output: "Forgot k (workspace)." });
  expect(await bench.call(tool, { key: "k" })).toMatchObject({ output: "Forgot k (user)." });
  expect(tool.prepare({ key: "k" }, bench.context)).toMatchObject({ needs_approval: false });
  expect(tool.prepare({ key: "k", scope: "global" }, bench.context)).toMatchObject({
    needs_approval: true,
    approval_label: "forget_global",
  });
});

test("another person's memory is not forgotten", async () => {
  await bench.call(rememberTool(), { key: "k", value: "mine" });
  bench.with({ user_id: "c".repeat(32) });
  expect(await bench.call(tool, { key: "k" })).toMatchObject({ is_error: true });
});
