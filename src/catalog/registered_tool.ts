import type { Tool } from "../contracts/tool.ts";
import type { ToolDefinition } from "../protocol/tool_definition.ts";
import type { SchemaCheck } from "./schema_check.ts";

/** A tool that can be called: what a model is told, and the code behind it. */
export interface RegisteredTool {
  definition: ToolDefinition;
  tool: Tool;
  /** Null when the arguments satisfy the schema, else what is wrong in words. */
  check: SchemaCheck;
  built_in: boolean;
}
