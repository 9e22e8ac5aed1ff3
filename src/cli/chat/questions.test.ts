import { expect, test } from "vitest";
import type { McpField } from "../../protocol/mcp_request.ts";
import { decide, type Decision, followQuestions, promptFor, type Question } from "./questions.ts";

const COMMON = { description: "", required: true };
const FIELDS: McpField[] = [
  {
    ...COMMON,
    name: "town",
    title: "Town",
    type: "text",
    format: null,
    length_min: 0,
    length_max: 100,
    default: null,
  },
  { ...COMMON, name: "window", title: "A window", required: false, type: "boolean", default: null },
  {
    ...COMMON,
    name: "meals",
    title: "Meals",
    type: "choice",
    choices: ["a", "b"].map((value) => ({ value, title: value.toUpperCase() })),
    multiple: true,
    chosen_min: 1,
    chosen_max: 2,
    default: [],
  },
];

function asked(request_id = "mcp_1"): readonly Question[] {
  const request = { kind: "form" as const, message: "Where to?", fields: FIELDS };
  return followQuestions([], { type: "mcp_request", request_id, call_id: "c", server: "inn", request });
}

/** Gives lines one after another; answers the prompts that were shown and what came of it. */
function answer(question: Question | undefined, lines: readonly string[]): { prompts: string[]; decision: Decision } {
  const prompts: string[] = [];
  let current = question;
  for (const line of lines) {
    prompts.push(promptFor(current));
    if (current === undefined) break;
    const decision = decide(current, line);
    if (decision.kind !== "goes_on") return { prompts, decision };
    current = decision.question;
  }
  throw new Error("The lines were not enough.");
}

test("a server's form is filled in line by line in the terminal", () => {
  const { prompts, decision } = answer(asked()[0], ["y", "/srv", "", "A, B"]);
  expect(prompts).toEqual(["[y]es, [n]o: ", "Town: ", "A window, yes or no (or nothing): ", "Meals, some of A, B: "]);
  const body = { action: "accept", content: { town: "/srv", meals: ["A", "B"] } };
  expect(decision).toEqual({ kind: "mcp", request_id: "mcp_1", body });
});

test("it can be declined, and is over when somebody else answers or its call ends", () => {
  expect(answer(asked()[0], ["n"]).decision).toMatchObject({ body: { action: "decline" } });
  expect(answer(asked()[0], ["perhaps"]).decision).toEqual({ kind: "unclear" });
  const resolved = { action: "accept" as const, decided_by: null, reason: "person" as const };
  expect(followQuestions(asked(), { type: "mcp_request_resolved", request_id: "mcp_1", ...resolved })).toEqual([]);
  const ended = { type: "tool_result" as const, call_id: "c", name: "t", output: "", is_error: false };
  expect(followQuestions(asked(), ended)).toEqual([]);
  expect(followQuestions(asked(), { ...ended, call_id: "other" })).toHaveLength(1);
});
