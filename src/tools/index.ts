import type { Tool } from "../contracts/tool.ts";
import { createBash } from "./bash.ts";
import { editFileTool } from "./edit_file.ts";
import { forgetTool } from "./forget.ts";
import { createMan } from "./man.ts";
import { createMath } from "./math.ts";
import { notifyTool } from "./notify.ts";
import { planTool } from "./plan.ts";
import { readFileTool } from "./read_file.ts";
import { recallTool } from "./recall.ts";
import { rememberTool } from "./remember.ts";
import type { Isolation } from "./sandbox.ts";
import { createSearch } from "./search.ts";
import { taskTool } from "./task.ts";
import { webFetchTool } from "./web_fetch.ts";
import { hasWebSearch, webSearchTool, type WebSearchOptions } from "./web_search.ts";
import { writeFileTool } from "./write_file.ts";

/** What the tools need to know of the host and its settings. */
export interface ToolOptions {
  /** Scrubbed of secrets: what programs get. */
  env: Readonly<Record<string, string>>;
  /** Filled in when the sandbox has been tried; no call is prepared before that. */
  isolation: Isolation;
  /** The server's own files. */
  hidden_paths: readonly string[];
  /** The interpreter for maths that the owner names. */
  python: string | null;
  /** Programs that `man` may ask for `--help`. */
  help_programs: readonly string[];
  /** `host:port` of private hosts that `web_fetch` may reach. */
  allow_private: readonly string[];
  /** What `web_search` uses for models that cannot search themselves. */
  web_search: WebSearchOptions;
}

/** Names of tools that could do nothing here, so that no model is offered them. */
export function toolsWithoutBackEnd(options: ToolOptions): ReadonlySet<string> {
  return new Set(hasWebSearch(options.web_search) ? [] : ["web_search"]);
}

/** Every built-in tool, one line each. */
export function builtInTools(options: ToolOptions): Tool[] {
  const { env, isolation, hidden_paths, python, help_programs, allow_private, web_search } = options;
  return [
    // One line each keeps additions apart.
    createBash({ env, isolation }),
    editFileTool(),
    forgetTool(),
    createMan({ env, help_programs }),
    createMath({ env, isolation, python: python ?? undefined }),
    notifyTool(),
    planTool(),
    readFileTool(),
    recallTool(),
    rememberTool(),
    createSearch({ env, hidden_paths }),
    taskTool(),
    webFetchTool({ allow_private }),
    webSearchTool(web_search),
    writeFileTool(),
  ];
}
