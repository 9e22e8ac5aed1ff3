import { expect, test } from "vitest";
import type { Event } from "../../protocol/event.ts";
import type { Question } from "./questions.ts";
import { decide, followQuestions } from "./questions.ts";
import { createTranscript, type ShownEvent } from "./transcript.ts";

function screenOf(events: readonly ShownEvent[]): string {
  const transcript = createTranscript((text) => text);
  return events.map((event) => transcript.show(event)).join("");
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function assistant(content: string): Event {
  const call = { model_call_id: "1.1", model_alias: "m" };
  return { type: "assistant", content, tool_calls: [], usage, stop_reason: "stop", ...call };
}

test("streamed text stands on the screen once, whatever of it was streamed", () => {
  const end: Event = { type: "turn_ended", outcome: "done" };
  const whole = screenOf([{ type: "content", text: "Hel" }, { type: "content", text: "lo" }, assistant("Hello"), end]);
  expect(whole).toBe("Hello\n");
  expect(screenOf([assistant("Hello"), end])).toBe("Hello\n");
  const snapshot: Event = { type: "in_progress_snapshot", content: "Hel", reasoning: "", model_call_id: "1.1" };
  expect(screenOf([snapshot, { type: "content", text: "lo" }, assistant("Hello")])).toBe("Hello\n");
  expect(screenOf([{ type: "content", text: "H" }, { ...snapshot, content: "Hell" }, assistant("Hello")])).toBe(
    "Hello\n",
  );
});

test("a model cannot move the cursor or recolour the terminal", () => {
  const screen = screenOf([
    { type: "content", text: "a\u001B[2Jb" },
    { type: "info", message: "\u001B]0;title\u0007" },
  ]);
  expect(screen).not.toContain("\u001B");
});

test("a call that is asked for is shown whole (REQ-SERVER-036)", () => {
  const item = { call_id: "c", header: "bash: two lines", preview: "git fetch\nrm -rf build", func_name: "bash" };
  const asked = { ...item, approval_label: "bash", needs_approval: true, error: null };
  const screen = screenOf([{ type: "approve_request", cycle_id: "y", items: [asked] }]);
  expect(screen).toBe("? bash: two lines\n  git fetch\n  rm -rf build\n");
});

test("a long result is cut for the eye, with how much is missing", () => {
  const output = Array.from({ length: 20 }, (_value, index) => `line ${index}`).join("\n");
  const screen = screenOf([{ type: "tool_result", call_id: "c", name: "bash", output, is_error: false }]);
  expect(screen).toContain("line 7\n  (12 more lines)\n");
});

const approval: Question = { kind: "approval", cycle_id: "y" };
const plan: Question = { kind: "plan", review_id: "r" };

test.each([
  [approval, "y", { kind: "approval", body: { approved: true, always: false, cycle_id: "y" } }],
  [approval, "A", { kind: "approval", body: { approved: true, always: true, cycle_id: "y" } }],
  [approval, "n", { kind: "approval", body: { approved: false, cycle_id: "y", feedback: null } }],
  [approval, "n not there", { kind: "approval", body: { approved: false, cycle_id: "y", feedback: "not there" } }],
  [approval, "now do it", { kind: "unclear" }],
  [approval, "", { kind: "unclear" }],
  [plan, "y", { kind: "plan", review_id: "r", feedback: "" }],
  [plan, "n", { kind: "plan", review_id: "r", feedback: "reject" }],
  [plan, "use tabs", { kind: "plan", review_id: "r", feedback: "use tabs" }],
  [plan, "", { kind: "unclear" }],
])("a line decides only what it clearly decides: %j %j", (question, line, decision) => {
  expect(decide(question, line)).toEqual(decision);
});

test("a question that somebody else settled is gone, and a repeated one is asked once", () => {
  const request: Event = { type: "approve_request", cycle_id: "y", items: [] };
  const twice = followQuestions(followQuestions([], request), request);
  expect(twice).toEqual([approval]);
  const resolved = {
    call_ids: [],
    approved: true,
    calls: {},
    feedback: null,
    always: false,
    decided_by: null,
  } as const;
  expect(
    followQuestions([...twice, plan], { type: "approval_resolved", cycle_id: "y", ...resolved, call_ids: [] }),
  ).toEqual([plan]);
});

test("what a sub-agent says is not shown as the agent's words, and its steps say whose they are", () => {
  const child = { ws_id: "c".repeat(32), parent_call_id: "call_0" };
  const item = { call_id: "c", header: "bash: ls", preview: "ls", func_name: "bash", approval_label: "bash" };
  const asked = { ...item, needs_approval: true, error: null };
  const screen = screenOf([
    { type: "content", text: "Let me" },
    { ...assistant("Only for my parent."), ...child },
    { type: "tool_started", call_id: "c", name: "bash", ...child },
    { type: "approve_request", cycle_id: "y", items: [asked], ...child },
    assistant("Let me see."),
  ]);
  expect(screen).not.toContain("Only for my parent.");
  expect(screen).toContain("… a sub-agent: bash\n");
  expect(screen).toContain("a sub-agent asks:\n? bash: ls\n");
  expect(screen.match(/^Let me see\.$/m)?.length ?? screen).toBe(1);
});
