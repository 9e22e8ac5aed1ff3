import { afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { DelegateRequest } from "../contracts/tool.ts";
import { taskTool } from "./task.ts";

const tool = taskTool();
let bench: ToolBench;
beforeEach(() => void (bench = toolBench()));
afterEach(() => bench.remove());

test("a task is asked for, with all of its prompt on the card (REQ-TOOL-029)", () => {
  const prompt = "Tidy the folder.\nLeave src alone.";
  expect(tool.prepare({ prompt: `  ${prompt}\n` }, bench.context)).toMatchObject({
    ok: true,
    header: "task: Tidy the folder.␊Leave src alone.",
    preview: prompt,
    needs_approval: true,
    effect: "side_effect",
  });
});

test.each([{ prompt: "" }, { prompt: " \n" }, {}, { prompt: 5 }])("%j is refused in words", (args) => {
  expect(tool.prepare(args, bench.context)).toMatchObject({ ok: false, error: expect.stringContaining("prompt") });
});

test("the report of the sub-agent is the result", async () => {
  const asked: DelegateRequest[] = [];
  bench.with({ delegate: async (request) => (asked.push(request), { ok: true, text: "All tidy.", ws_id: "w" }) });
  expect(await bench.call(tool, { prompt: "Tidy." })).toMatchObject({
    output: "All tidy.",
    is_error: false,
    effect: "done",
  });
  expect(asked).toEqual([{ kind: "task", prompt: "Tidy." }]);
});

test("a failure says what is known of its effect", async () => {
  bench.with({ delegate: async () => ({ ok: false, error: "It failed.", ws_id: "w" }) });
  expect(await bench.call(tool, { prompt: "x" })).toMatchObject({
    output: "It failed.",
    is_error: true,
    effect: "unknown",
  });
  bench.with({ delegate: async () => ({ ok: false, error: "No." }) });
  expect(await bench.call(tool, { prompt: "x" })).toMatchObject({ is_error: true, effect: "none" });
});
