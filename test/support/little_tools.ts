import type { Tool } from "../../src/contracts/tool.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import type { ToolDefinition } from "../../src/protocol/tool_definition.ts";

function definition(name: string): ToolDefinition {
  return {
    name,
    description: `${name} for tests`,
    parameters: {
      type: "object",
      properties: { text: { type: "string" }, count: { type: "integer" } },
      required: ["text"],
      additionalProperties: false,
    },
    agent: true,
    task_agent: true,
    auto_approve: false,
    primary_key: "text",
  };
}

function textOf(plan: unknown): string {
  return isJsonObject(plan) && typeof plan["text"] === "string" ? plan["text"] : "";
}

/** A tool without side effects: answers its text, unasked. */
export const echo: { definition: ToolDefinition; tool: Tool } = {
  definition: definition("echo"),
  tool: {
    name: "echo",
    prepare: (args) => ({
      ok: true,
      plan: args,
      header: `echo: ${textOf(args)}`,
      preview: "",
      needs_approval: false,
      effect: "none",
    }),
    execute: (plan) => Promise.resolve({ output: textOf(plan), is_error: false, effect: "none" }),
  },
};

/** A tool with a side effect: adds its text to a list, asked. */
export function recorder(
  done: string[],
  run?: (text: string, signal: AbortSignal) => Promise<void>,
): { definition: ToolDefinition; tool: Tool } {
  return {
    definition: definition("record"),
    tool: {
      name: "record",
      prepare: (args) => ({
        ok: true,
        plan: args,
        header: `record: ${textOf(args)}`,
        preview: textOf(args),
        needs_approval: true,
        effect: "side_effect",
      }),
      async execute(plan, context) {
        done.push(textOf(plan));
        await run?.(textOf(plan), context.signal);
        return { output: `recorded ${textOf(plan)}`, is_error: false, effect: "done" };
      },
    },
  };
}
