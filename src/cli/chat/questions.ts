import type { ApproveBody } from "../../protocol/approval.ts";
import type { Event } from "../../protocol/event.ts";

/** What the workstream waits for a person to decide, oldest first. */
export type Question = { kind: "approval"; cycle_id: string } | { kind: "plan"; review_id: string };

export type Decision =
  | { kind: "approval"; body: ApproveBody }
  | { kind: "plan"; review_id: string; feedback: string }
  /** The line was none of the answers. */
  | { kind: "unclear" };

/** The open questions after one more event. */
export function followQuestions(open: readonly Question[], event: Event): readonly Question[] {
  switch (event.type) {
    case "approve_request":
      return [
        ...open.filter((one) => !isApproval(one, event.cycle_id)),
        { kind: "approval", cycle_id: event.cycle_id },
      ];
    case "approval_resolved":
      return open.filter((one) => !isApproval(one, event.cycle_id));
    case "plan_review":
      return [...open.filter((one) => !isPlan(one, event.review_id)), { kind: "plan", review_id: event.review_id }];
    case "plan_resolved":
      return open.filter((one) => !isPlan(one, event.review_id));
    default:
      return open;
  }
}

function isApproval(question: Question, cycle_id: string): boolean {
  return question.kind === "approval" && question.cycle_id === cycle_id;
}

function isPlan(question: Question, review_id: string): boolean {
  return question.kind === "plan" && question.review_id === review_id;
}

/** What a line decides. For an approval: y, a, or n with a reason behind it. For a plan: y, n, or what to change. */
export function decide(question: Question, line: string): Decision {
  const text = line.trim();
  const word = text.toLowerCase();
  if (question.kind === "plan") {
    if (text === "") return { kind: "unclear" };
    const feedback = word === "y" ? "" : word === "n" ? "reject" : text;
    return { kind: "plan", review_id: question.review_id, feedback };
  }
  const { cycle_id } = question;
  if (word === "y" || word === "a") {
    return { kind: "approval", body: { approved: true, always: word === "a", cycle_id } };
  }
  const denial = /^n(?:\s+(.+))?$/is.exec(text);
  if (denial === null) return { kind: "unclear" };
  return { kind: "approval", body: { approved: false, cycle_id, feedback: denial[1] ?? null } };
}

/** What is asked below a question. */
export function promptFor(question: Question | undefined): string {
  if (question === undefined) return "> ";
  return question.kind === "approval"
    ? "[y]es, [n]o (n and a reason), [a]lways: "
    : "[y] accept, [n] reject, or what to change: ";
}
