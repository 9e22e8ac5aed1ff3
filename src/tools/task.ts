import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { JsonValue } from "../protocol/json.ts";
import { prepareDelegation, promptIn } from "./delegation.ts";

/** Hands work to a sub-agent. After a restart the same sub-agent is waited for: it is found by the call. */
export function taskTool(): Tool {
  return { name: "task", prepare: (args) => prepareDelegation("task", args), execute: run, resume: run };
}

async function run(plan: JsonValue, context: ToolContext): Promise<ToolOutput> {
  const result = await context.delegate({ kind: "task", prompt: promptIn(plan) });
  const { usage = {} } = result;
  if (result.ok) return { output: result.text, is_error: false, effect: "done", usage };
  // A sub-agent that never came to be has touched nothing.
  return { output: result.error, is_error: true, effect: result.ws_id === undefined ? "none" : "unknown", usage };
}
