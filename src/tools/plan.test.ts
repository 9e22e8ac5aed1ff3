import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { DelegateRequest, DelegateResult, ReviewAnswer } from "../contracts/tool.ts";
import { PLAN_ROUNDS_MAX, planTool } from "./plan.ts";

const tool = planTool();
let bench: ToolBench;
let asked: DelegateRequest[];
let reviewed: { content: string; round: number }[];
beforeEach(() => {
  bench = toolBench();
  asked = [];
  reviewed = [];
});
afterEach(() => bench.remove());

const FILE = `.plan-${"a".repeat(32)}.md`;

function planned(): string {
  return readFileSync(bench.path(FILE), "utf8");
}

/** A planner that numbers its drafts, and a person who gives these answers in turn. */
function play(...answers: ReviewAnswer[]): void {
  bench.with({
    delegate: async (request) => (asked.push(request), { ok: true, text: `draft ${request.round}`, ws_id: "w" }),
    review: async (request) => {
      reviewed.push(request);
      return answers[reviewed.length - 1] ?? { decision: "accepted" };
    },
  });
}

function changes(feedback: string): ReviewAnswer {
  return { decision: "changes", feedback, by: "Ada" };
}

test("a plan is asked for", () => {
  const preparation = tool.prepare({ prompt: "Move to Rust." }, bench.context);
  expect(preparation).toMatchObject({ ok: true, header: "plan: Move to Rust.", needs_approval: true });
});

test("an accepted plan is the result and stands in the workspace (REQ-TOOL-030)", async () => {
  play({ decision: "accepted" });
  const result = await bench.call(tool, { prompt: "Move to Rust." });
  expect(result).toMatchObject({ output: "draft 1", is_error: false, display: `Accepted; it stands in ${FILE}.` });
  expect(planned()).toBe("draft 1\n");
  expect(asked).toEqual([{ kind: "plan", prompt: "Move to Rust.", round: 1 }]);
  expect(bench.records.size).toBe(1);
});

test("where nobody is asked, the plan is the result", async () => {
  play({ decision: "skipped" });
  expect(await bench.call(tool, { prompt: "x" })).toMatchObject({ output: "draft 1", is_error: false });
});

test("a rejected plan comes with the word not to implement it", async () => {
  play({ decision: "rejected", by: "Ada" });
  const result = await bench.call(tool, { prompt: "x" });
  expect(result).toMatchObject({
    is_error: false,
    output: expect.stringMatching(/Ada rejected.*Do not implement[\s\S]*draft 1/),
  });
});

test("what a person writes goes whole to the same planner, and the next draft is reviewed again (CTX-13)", async () => {
  const long = "more ".repeat(600);
  play(changes(long), { decision: "accepted" });
  expect(await bench.call(tool, { prompt: "x" })).toMatchObject({ output: "draft 2" });
  expect(asked[1]).toMatchObject({ kind: "plan", round: 2, prompt: expect.stringContaining(long) });
  expect(reviewed).toEqual([
    { content: "draft 1", round: 1 },
    { content: "draft 2", round: 2 },
  ]);
  expect(planned()).toBe("draft 2\n");
});

test("after the last round the plan comes with what is still asked for", async () => {
  play(...Array.from({ length: 9 }, (_, index) => changes(`change ${index + 1}`)));
  const result = await bench.call(tool, { prompt: "x" });
  expect(reviewed).toHaveLength(PLAN_ROUNDS_MAX);
  expect(result).toMatchObject({ is_error: false, output: expect.stringMatching(/^draft 5[\s\S]*change 5$/) });
});

test("a failed planner is not put before anybody, and a draft that was there is not lost with it", async () => {
  play(changes("shorter"));
  const results: DelegateResult[] = [
    { ok: true, text: "draft 1", ws_id: "w" },
    { ok: false, error: "The sub-agent failed.", ws_id: "w" },
  ];
  bench.with({ delegate: async () => results.shift() ?? { ok: false, error: "over" } });
  const result = await bench.call(tool, { prompt: "x" });
  expect(reviewed).toHaveLength(1);
  expect(result).toMatchObject({
    is_error: true,
    output: expect.stringMatching(/^The sub-agent failed\.[\s\S]*draft 1[\s\S]*shorter/),
  });
  expect(await bench.call(tool, { prompt: "x" })).toMatchObject({ is_error: true, output: "over" });
  expect(reviewed).toHaveLength(1);
});

test("an earlier plan is given to the planner to refine", async () => {
  writeFileSync(bench.path(FILE), "the plan of yesterday\n");
  play(changes("shorter"), { decision: "accepted" });
  await bench.call(tool, { prompt: "x" });
  expect(asked.map((request) => request.context)).toEqual(["the plan of yesterday", undefined]);
});

test("the file's name stays a name, whatever the id of the workstream is (CTX-14)", async () => {
  bench.with({ ws_id: "../../evil" });
  play();
  const result = await bench.call(tool, { prompt: "x" });
  expect(result).toMatchObject({
    is_error: false,
    output: expect.stringMatching(/^draft 1[\s\S]*could not be written/),
  });
  expect(result).not.toHaveProperty("files");
});

test("a link that leads out of the workspace is neither read nor written (CTX-14)", async () => {
  const outside = mkdtempSync(join(tmpdir(), "turnstone-outside-"));
  const victim = join(outside, "notes.md");
  writeFileSync(victim, "mine");
  symlinkSync(victim, bench.path(FILE));
  play();
  const result = await bench.call(tool, { prompt: "x" });
  expect(asked[0]).not.toHaveProperty("context");
  expect(result).toMatchObject({ output: expect.stringContaining("leads out of the workspace") });
  expect(readFileSync(victim, "utf8")).toBe("mine");
  rmSync(outside, { recursive: true });
});
