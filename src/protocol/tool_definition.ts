import type { JsonObject } from "./json.ts";

/** A file in `tools/`. The last four keys are ours and never reach a model. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments: an object with `additionalProperties: false`. */
  parameters: JsonObject;
  agent: boolean;
  task_agent: boolean;
  auto_approve: boolean;
  primary_key: string;
}

/** What a model is told of a tool. */
export interface ModelTool {
  name: string;
  description: string;
  parameters: JsonObject;
}
