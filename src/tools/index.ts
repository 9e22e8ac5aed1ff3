import type { Tool } from "../contracts/tool.ts";
import { editFileTool } from "./edit_file.ts";
import { readFileTool } from "./read_file.ts";
import { writeFileTool } from "./write_file.ts";

/** Every built-in tool, one line each. */
export function builtInTools(): Tool[] {
  return [editFileTool(), readFileTool(), writeFileTool()];
}
