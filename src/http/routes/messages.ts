import type { ApproveResult, McpRequestResult } from "../../contracts/engine.ts";
import type { Principal } from "../../contracts/principal.ts";
import type { WorkstreamAction } from "../../auth/authorize.ts";
import { ApproveAnswer, ApproveBody, type DecidedBy, PlanBody } from "../../protocol/approval.ts";
import { CommandAnswer, OkAnswer, PlanAnswer, RewindAnswer } from "../../protocol/answers.ts";
import type { AppError } from "../../protocol/error.ts";
import { McpRequestAnswer, McpRequestBody, OpenMcpRequestAnswer } from "../../protocol/mcp_request.ts";
import { PATHS } from "../../protocol/paths.ts";
import { CancelAnswer, CancelBody, CommandBody, RewindBody, SendAnswer, SendBody } from "../../protocol/workstream.ts";
import { accessWorkstream } from "../access.ts";
import { audit, type HttpContext, personOf } from "../context.ts";
import { requireSuccess } from "../engine_failure.ts";
import { conflict, invalid, notFound } from "../failures.ts";
import { incomingMessage } from "../incoming.ts";
import { type Route, route } from "../route.ts";

/** Commands that change nothing but what their caller sees, and the one that stops: guests may give them too. */
const GUEST_COMMANDS: ReadonlySet<string> = new Set(["/help", "/status", "/mcp", "/stop"]);

export function messageRoutes(context: HttpContext): Route[] {
  return [...sendRoutes(context), ...turnRoutes(context), ...decisionRoutes(context), ...mcpRequestRoutes(context)];
}

function sendRoutes(context: HttpContext): Route[] {
  const { store, engine } = context;
  return [
    route({
      method: "POST",
      path: PATHS.send,
      summary: "Says something to the agent",
      scope: "write",
      body: SendBody,
      answer: SendAnswer,
      async handle({ principal, params, body }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "speak");
        const message = await incomingMessage(context, principal, ws_id, body);
        const answer = requireSuccess(await engine.send(ws_id, message));
        context.metrics.messageAccepted();
        return answer;
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.send_withdraw,
      summary: "Takes a queued message back",
      scope: "write",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "speak");
        const outcome = await engine.withdraw(ws_id, params["msg_id"] ?? "");
        if (outcome === "joined") throw conflict("The agent has read this message already.");
        if (outcome === "unknown") throw notFound("There is no such queued message.");
        return { status: "ok" };
      },
    }),
    route({
      method: "POST",
      path: PATHS.command,
      summary:
        "Gives a slash command; what it says also comes as an info event, to the caller alone where it is personal",
      scope: "write",
      body: CommandBody,
      answer: CommandAnswer,
      async handle({ principal, body }) {
        const { ws_id } = await accessWorkstream(store, principal, body.ws_id, commandAction(body.command));
        const { output } = requireSuccess(await engine.command(ws_id, body.command.trim(), personOf(principal)));
        return { status: "ok", output };
      },
    }),
  ];
}

function commandAction(command: string): WorkstreamAction {
  const [verb = "", ...words] = command.trim().toLowerCase().split(/\s+/);
  const harmless = GUEST_COMMANDS.has(verb) && !(verb === "/mcp" && words.length > 0);
  return harmless ? "speak" : "steer";
}

function turnRoutes({ store, engine }: HttpContext): Route[] {
  return [
    route({
      method: "POST",
      path: PATHS.cancel,
      summary: "Stops the running turn",
      scope: "write",
      body: CancelBody,
      answer: CancelAnswer,
      async handle({ principal, params, body }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "speak");
        return requireSuccess(await engine.cancel(ws_id, body.force ?? false));
      },
    }),
    route({
      method: "POST",
      path: PATHS.rewind,
      summary: "Takes the last turns out of the conversation",
      scope: "write",
      body: RewindBody,
      answer: RewindAnswer,
      async handle({ principal, params, body }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "steer");
        const { turns } = requireSuccess(await engine.rewind(ws_id, body.turns));
        return { status: "ok", turns };
      },
    }),
    route({
      method: "POST",
      path: PATHS.retry,
      summary: "Runs the last turn again",
      scope: "write",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "speak");
        requireSuccess(await engine.retry(ws_id, personOf(principal)));
        return { status: "ok" };
      },
    }),
  ];
}

function decisionRoutes(context: HttpContext): Route[] {
  const { store, engine } = context;
  return [
    route({
      method: "POST",
      path: PATHS.approve,
      summary: "Decides about calls that wait for a person",
      scope: "approve",
      gateway_too: true,
      body: ApproveBody,
      answer: ApproveAnswer,
      async handle({ principal, params, body }) {
        const action = body.approved || body.calls !== undefined ? "approve" : "deny";
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], action);
        return decide(context, ws_id, body, decidedBy(principal));
      },
    }),
    route({
      method: "POST",
      path: PATHS.plan,
      summary: "Accepts, rejects or annotates a plan",
      scope: "approve",
      gateway_too: true,
      body: PlanBody,
      answer: PlanAnswer,
      async handle({ principal, params, body }) {
        const { feedback, review_id = null } = body;
        const action = feedback === "reject" ? "deny" : "approve";
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], action);
        const decided_by = decidedBy(principal);
        const result = await engine.plan(ws_id, { feedback, review_id, decided_by });
        if (!result.ok) throw conflict(result.error, { decided_by: result.decided_by });
        await audit(context, decided_by?.user_id ?? null, "plan.reviewed", result.review_id, { ws_id });
        return { status: "ok", review_id: result.review_id };
      },
    }),
  ];
}

function mcpRequestRoutes(context: HttpContext): Route[] {
  const { store, engine } = context;
  return [
    route({
      method: "GET",
      path: PATHS.mcp_request,
      summary: "What an MCP server waits for, with what was given so far",
      scope: "approve",
      answer: OpenMcpRequestAnswer,
      async handle({ principal, params }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "approve");
        const open = await engine.mcpRequest(ws_id, params["request_id"] ?? "");
        if (open === null) throw notFound("No MCP server waits for an answer to this any more.");
        return { ...open };
      },
    }),
    route({
      method: "POST",
      path: PATHS.mcp_request,
      summary: "Answers what an MCP server wants of people",
      scope: "approve",
      gateway_too: true,
      body: McpRequestBody,
      answer: McpRequestAnswer,
      async handle({ principal, params, body }) {
        const action = body.action === "accept" ? "approve" : "deny";
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], action);
        const request_id = params["request_id"] ?? "";
        const decided_by = decidedBy(principal);
        const result = await engine.answerMcpRequest(ws_id, request_id, { ...body, decided_by });
        if (!result.ok) throw mcpRefusal(result);
        const { done, missing } = result;
        if (done) {
          await audit(context, decided_by?.user_id ?? null, "mcp_request.answered", request_id, {
            ws_id,
            action: body.action,
          });
        }
        return { status: done ? "ok" : "incomplete", request_id, missing };
      },
    }),
  ];
}

function mcpRefusal(result: Extract<McpRequestResult, { ok: false }>): AppError {
  switch (result.reason) {
    case "invalid":
      return invalid(result.error);
    case "settled":
      return conflict(result.error, { decided_by: result.decided_by });
    case "nothing_pending":
      return conflict(result.error);
  }
}

/** Who decides; null for a gateway that acts for nobody, which may only say no. */
function decidedBy(principal: Principal): DecidedBy | null {
  return principal.user_id === null ? null : personOf(principal);
}

async function decide(
  context: HttpContext,
  ws_id: string,
  body: ApproveBody,
  decided_by: DecidedBy | null,
): Promise<ApproveAnswer> {
  const {
    approved,
    feedback = null,
    always = false,
    scope = null,
    cycle_id = null,
    call_id = null,
    calls = null,
  } = body;
  const request = { approved, feedback, always, scope, cycle_id, call_id, calls, decided_by };
  const result = await context.engine.approve(ws_id, request);
  if (result.ok) {
    const details = { ws_id, approved, call_id, calls, always, scope: scope === null ? null : { ...scope } };
    await audit(context, decided_by?.user_id ?? null, "approval.decided", result.cycle_id, details);
    return { status: "ok", cycle_id: result.cycle_id };
  }
  throw refusalOf(result);
}

function refusalOf(result: Extract<ApproveResult, { ok: false }>): AppError {
  if (result.reason === "invalid") return invalid(result.error);
  if (result.reason === "nothing_pending") return conflict(result.error);
  const { cycle_id, approved, decided_by, decided_at } = result;
  return conflict(result.error, { cycle_id, approved, decided_by, decided_at });
}
