import type { ApproveBody } from "../../protocol/approval.ts";
import type { Event } from "../../protocol/event.ts";
import type { McpField, McpRequest, McpRequestBody } from "../../protocol/mcp_request.ts";
import { visibleLine } from "../../lib/visible.ts";

/** What the workstream waits for a person to decide, oldest first. */
export type Question =
  | { kind: "approval"; cycle_id: string }
  | { kind: "plan"; review_id: string }
  /** `field`: which one of a form is asked for; null before that is agreed to. */
  | {
      kind: "mcp";
      request_id: string;
      call_id: string;
      request: McpRequest;
      field: number | null;
      given: McpRequestBody["content"];
    };

export type Decision =
  | { kind: "approval"; body: ApproveBody }
  | { kind: "plan"; review_id: string; feedback: string }
  | { kind: "mcp"; request_id: string; body: McpRequestBody }
  /** One more field of a form was answered; the next is asked for. */
  | { kind: "goes_on"; question: Question }
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
    case "mcp_request": {
      const { request_id, call_id, request } = event;
      const question = { kind: "mcp" as const, request_id, call_id, request, field: null, given: {} };
      return open.some((one) => isMcp(one, request_id)) ? open : [...open, question];
    }
    case "mcp_request_resolved":
      return open.filter((one) => !isMcp(one, event.request_id));
    case "tool_result":
      return open.filter((one) => one.kind !== "mcp" || one.call_id !== event.call_id);
    default:
      return open;
  }
}

function isMcp(question: Question, request_id: string): boolean {
  return question.kind === "mcp" && question.request_id === request_id;
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
  if (question.kind === "mcp") return decideMcp(question, text);
  const { cycle_id } = question;
  if (word === "y" || word === "a") {
    return { kind: "approval", body: { approved: true, always: word === "a", cycle_id } };
  }
  const denial = /^n(?:\s+(.+))?$/is.exec(text);
  if (denial === null) return { kind: "unclear" };
  return { kind: "approval", body: { approved: false, cycle_id, feedback: denial[1] ?? null } };
}

function decideMcp(question: Extract<Question, { kind: "mcp" }>, text: string): Decision {
  const { request_id, request, field, given } = question;
  const word = text.toLowerCase();
  if (field === null) {
    if (word === "n") return { kind: "mcp", request_id, body: { action: "decline" } };
    if (word !== "y" || request.kind === "sign_in") return { kind: "unclear" };
    if (request.kind !== "form" || request.fields.length === 0) {
      return { kind: "mcp", request_id, body: { action: "accept" } };
    }
    return { kind: "goes_on", question: { ...question, field: 0 } };
  }
  const fields = request.kind === "form" ? request.fields : [];
  const asked = fields[field];
  const several = asked?.type === "choice" && asked.multiple;
  const value = several ? text.split(",").map((part) => part.trim()) : text;
  const content = asked === undefined || text === "" ? given : { ...given, [asked.name]: value };
  const next = field + 1;
  if (next < fields.length) return { kind: "goes_on", question: { ...question, field: next, given: content } };
  return { kind: "mcp", request_id, body: { action: "accept", ...(content === undefined ? {} : { content }) } };
}

/** What is asked below a question. */
export function promptFor(question: Question | undefined): string {
  if (question === undefined) return "> ";
  switch (question.kind) {
    case "approval":
      return "[y]es, [n]o (n and a reason), [a]lways: ";
    case "plan":
      return "[y] accept, [n] reject, or what to change: ";
    case "mcp":
      return mcpPrompt(question);
  }
}

function mcpPrompt({ request, field }: Extract<Question, { kind: "mcp" }>): string {
  if (request.kind === "sign_in") return "[n] decline, or /mcp connect and the server's name: ";
  const asked = field === null || request.kind !== "form" ? undefined : request.fields[field];
  return asked === undefined ? "[y]es, [n]o: " : fieldPrompt(asked);
}

function fieldPrompt(field: McpField): string {
  const title = visibleLine(field.title);
  const optional = field.required ? "" : " (or nothing)";
  switch (field.type) {
    case "text":
    case "number":
      return `${title}${optional}: `;
    case "boolean":
      return `${title}, yes or no${optional}: `;
    case "choice": {
      const titles = field.choices.map((choice) => visibleLine(choice.title)).join(", ");
      return `${title}, ${field.multiple ? "some" : "one"} of ${titles}${optional}: `;
    }
  }
}
