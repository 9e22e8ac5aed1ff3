import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import type { Connection } from "./connection.ts";
import { toolOutput } from "./result.ts";
import type { Outcome } from "./outcome.ts";

/** However much progress a server reports, a call ends. */
const CALL_TOTAL_MS_MAX = 3_600_000;

/** Of a server's own words in a message. */
const WORDS_LENGTH_MAX = 2000;

/** What a call works from; kept with the approval. */
interface CallPlan {
  server: string;
  tool: string;
  args: JsonObject;
}

/** A server's tool that can be called: asked for like any side effect, since nobody here knows what it does. */
export function remoteTool(exposed: string, own_name: string, connection: Connection): Tool {
  return {
    name: exposed,
    prepare: (args, _context: PrepareContext): Preparation => {
      if (connection.state === "ready") return preparation(connection.name, own_name, args);
      return { ok: false, error: unavailable(connection) };
    },
    execute: (plan, context) => callTool(readPlan(plan), connection, context),
  };
}

/** Stands for a tool of a server that has not been reached yet, for a call that was approved before a restart. */
export function absentTool(exposed: string, connection: Connection, deadline_ms: number): Tool {
  return {
    name: exposed,
    prepare: (): Preparation => ({ ok: false, error: unavailable(connection) }),
    async execute(plan, context) {
      await connection.settled(deadline_ms);
      return callTool(readPlan(plan), connection, context);
    },
  };
}

function unavailable(connection: Connection): string {
  const why = connection.problem ?? "it is being connected";
  return `The MCP server ${connection.name} is unavailable (${why}). The call was not run; go on without it, or try again later.`;
}

function preparation(server: string, tool: string, args: JsonObject): Preparation {
  const plan: CallPlan = { server, tool, args };
  return {
    ok: true,
    plan: { ...plan },
    header: `mcp:${visibleLine(server)}/${visibleLine(tool)}`,
    preview: argumentLines(args),
    needs_approval: true,
    effect: "side_effect",
    subject: JSON.stringify(args),
  };
}

/** Each argument whole. One of several lines goes on below its name, set in, so that no line passes for another argument. */
function argumentLines(args: JsonObject): string {
  const lines = Object.entries(args).map(([name, value]) => {
    const shown = typeof value === "string" ? visible(value) : visible(JSON.stringify(value, null, 2));
    return shown.includes("\n") ? `${visibleLine(name)}:\n${shown.replace(/^/gm, "  ")}` : `${visibleLine(name)}: ${shown}`;
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

async function callTool(plan: CallPlan, connection: Connection, context: ToolContext): Promise<ToolOutput> {
  const params = { name: plan.tool, arguments: plan.args };
  const outcome = await connection.request("tools/call", params, {
    signal: context.signal,
    timeout: context.timeout_s * 1000,
    resetTimeoutOnProgress: true,
    maxTotalTimeout: Math.max(CALL_TOTAL_MS_MAX, context.timeout_s * 1000),
    onprogress: (progress) => context.emit(progressLine(progress)),
  });
  context.signal.throwIfAborted();
  return outcome.status === "answered" ? toolOutput(outcome.result, context) : failedCall(plan, outcome, context);
}

function progressLine({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? `${count}\n` : `${message} (${count})\n`;
}

function failedCall(
  { server, tool }: CallPlan,
  outcome: Exclude<Outcome, { status: "answered" }>,
  context: ToolContext,
): ToolOutput {
  const unknown = (output: string): ToolOutput => ({ output, is_error: true, effect: "unknown" });
  const without_effect = (output: string): ToolOutput => ({ output, is_error: true, effect: "none" });
  switch (outcome.status) {
    case "refused":
      return REFUSED_UNRUN.has(outcome.code)
        ? without_effect(`The MCP server ${server} refused the call of ${tool}: ${words(outcome.error)}`)
        : unknown(`The MCP server ${server} failed in ${tool}: ${words(outcome.error)}`);
    case "timed_out":
      return unknown(
        `The MCP tool ${tool} gave no answer within ${context.timeout_s} s; the server was told to stop. Whether it had an effect is unknown: check before you try again.`,
      );
    case "cancelled":
      return unknown(`The call of ${tool} was cancelled.`);
    case "session_expired":
    case "lost": {
      const why = outcome.status === "lost" ? outcome.error : "its session is over";
      if (outcome.status === "session_expired" || !outcome.reached) {
        return without_effect(`The MCP server ${server} is unavailable (${words(why)}). The call was not run; go on without it, or try again later.`);
      }
      return unknown(
        `The MCP server ${server} went away during ${tool} (${words(why)}). Whether it had an effect is unknown: check before you try again.`,
      );
    }
  }
}

/** JSON-RPC 2.0: unreadable, not a request, no such method, bad parameters. */
const REFUSED_UNRUN = new Set([-32_700, -32_600, -32_601, -32_602]);

function words(text: string): string {
  return visible(text).slice(0, WORDS_LENGTH_MAX);
}
