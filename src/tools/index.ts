import type { Tool } from "../contracts/tool.ts";
import { editFileTool } from "./edit_file.ts";
import { forgetTool } from "./forget.ts";
import { readFileTool } from "./read_file.ts";
import { recallTool } from "./recall.ts";
import { rememberTool } from "./remember.ts";
import { writeFileTool } from "./write_file.ts";

/** Every built-in tool, one line each. */
export function builtInTools(): Tool[] {
  return [
    // One line each keeps additions apart.
    editFileTool(),
    forgetTool(),
    readFileTool(),
    recallTool(),
    rememberTool(),
    writeFileTool(),
  ];
}
