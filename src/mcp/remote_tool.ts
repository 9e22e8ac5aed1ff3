import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import type { Connection } from "./connection.ts";
import { failedRequest, notSignedIn, unavailable } from "./failed_request.ts";
import { Patience, UNLIMITED_MS } from "./patience.ts";
import type { Server } from "./server.ts";
import { accountNotes, cannotCall, connectionOf } from "./whose.ts";
import { toolOutput } from "./result.ts";

/** However much progress a server reports, a call ends. */
const CALL_TOTAL_MS_MAX = 3_600_000;

/** A server that is never content is not asked for ever. */
const SIGN_IN_ATTEMPTS_MAX = 3;

/** What a call works from; kept with the approval. */
interface CallPlan {
  server: string;
  tool: string;
  args: JsonObject;
}

/** A server's tool that can be called: asked for like any side effect, since nobody here knows what it does. */
export function remoteTool(exposed: string, own_name: string, server: Server): Tool {
  return {
    name: exposed,
    prepare: (args, context: PrepareContext): Preparation => {
      const error = cannotCall(server, context);
      return error === null ? preparation(server, own_name, args) : { ok: false, error };
    },
    execute: (plan, context) => callTool(readPlan(plan), server, context),
  };
}

/** Stands for a tool of a server that has not been reached yet, for a call that was approved before a restart. */
export function absentTool(exposed: string, server: Server, deadline_ms: number): Tool {
  return {
    name: exposed,
    prepare: (): Preparation => ({ ok: false, error: unavailable(server) }),
    async execute(plan, context) {
      await server.settled(deadline_ms);
      return callTool(readPlan(plan), server, context);
    },
  };
}

function preparation(server: Server, tool: string, args: JsonObject): Preparation {
  const plan: CallPlan = { server: server.name, tool, args };
  return {
    ok: true,
    plan: { ...plan },
    header: `mcp:${visibleLine(server.name)}/${visibleLine(tool)}`,
    preview: argumentLines(args),
    needs_approval: true,
    effect: "side_effect",
    subject: JSON.stringify(args),
    ...accountNotes(server),
  };
}

/**
 * Each argument whole. One of several lines stands below its name, set in, so that none passes for another argument.
 */
function argumentLines(args: JsonObject): string {
  const lines = Object.entries(args).map(([name, value]) => {
    const shown = typeof value === "string" ? visible(value) : visible(JSON.stringify(value, null, 2));
    return shown.includes("\n")
      ? `${visibleLine(name)}:\n${shown.replace(/^/gm, "  ")}`
      : `${visibleLine(name)}: ${shown}`;
  });
  return lines.length === 0 ? "(no arguments)" : lines.join("\n");
}

function readPlan(plan: JsonValue): CallPlan {
  if (isJsonObject(plan) && typeof plan["server"] === "string" && typeof plan["tool"] === "string") {
    const args = plan["args"];
    return { server: plan["server"], tool: plan["tool"], args: isJsonObject(args) ? args : {} };
  }
  throw new Error("The plan of an MCP call names no server and tool.");
}

async function callTool(plan: CallPlan, server: Server, context: ToolContext): Promise<ToolOutput> {
  for (let attempt = 1; ; attempt += 1) {
    const connection = await connectionOf(server, context);
    if (connection === null) return { output: notSignedIn(server.name), is_error: true, effect: "none" };
    const output = await callOn(connection, plan, context);
    if (output !== null) return output;
    if (attempt === SIGN_IN_ATTEMPTS_MAX) return { output: notSignedIn(server.name), is_error: true, effect: "none" };
  }
}

/** Null where the server wants to know the person first; it did nothing then. */
async function callOn(connection: Connection, plan: CallPlan, context: ToolContext): Promise<ToolOutput | null> {
  const params = { name: plan.tool, arguments: plan.args };
  const timeout_ms = context.timeout_s * 1000;
  const limits = { timeout_ms, total_ms: Math.max(CALL_TOTAL_MS_MAX, timeout_ms) };
  const patience = new Patience(context.signal, limits, () => context.clock.now());
  try {
    const outcome = await connection.asking.whileCalling(context, patience, () =>
      connection.request("tools/call", params, {
        signal: patience.signal,
        timeout: UNLIMITED_MS,
        onprogress(progress) {
          patience.progress();
          context.emit(progressLine(progress));
        },
      }),
    );
    context.signal.throwIfAborted();
    if (outcome.status === "answered") return await toolOutput(outcome.result, context);
    if (outcome.status === "refused" && outcome.pages.length > 0) {
      const { asking } = connection;
      const agreed = await asking.whileCalling(context, patience, () =>
        asking.openPages(outcome.pages, patience.signal),
      );
      context.signal.throwIfAborted();
      return pagesOutput(plan, agreed);
    }
    if (outcome.status === "sign_in_required") return null;
    const told = patience.timed_out ? ({ status: "timed_out" } as const) : outcome;
    return failedRequest(plan.server, plan.tool, told, context.timeout_s);
  } finally {
    patience.end();
  }
}

function pagesOutput({ server, tool }: CallPlan, agreed: boolean): ToolOutput {
  const output = agreed
    ? `The MCP server ${server} did not run ${tool} yet: a person must do something on a page first, and has agreed to. Ask whether that is done, then call it again.`
    : `The MCP server ${server} did not run ${tool}: a person would have to do something on a page first, and nobody agreed to. Do not call it again unless somebody asks for it.`;
  return { output, is_error: true, effect: "none" };
}

function progressLine({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? `${count}\n` : `${message} (${count})\n`;
}
