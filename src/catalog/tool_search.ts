import type { ExternalServer } from "../contracts/external_tools.ts";
import type { Tool, ToolSearchResult } from "../contracts/tool.ts";
import { isJsonObject, type JsonValue } from "../protocol/json.ts";
import type { ToolDefinition } from "../protocol/tool_definition.ts";
import { counted } from "../lib/words.ts";

export const TOOL_SEARCH_NAME = "tool_search";

/** When tools are searched for instead of listed. */
export interface ToolSearchSettings {
  mode: "auto" | "on" | "off";
  /** Tools in all, ours included, from which `auto` searches. */
  threshold: number;
  /** Tools that one search makes visible. */
  max_results: number;
}

export const TOOL_SEARCH_DEFAULTS: ToolSearchSettings = { mode: "auto", threshold: 20, max_results: 5 };

/** Servers that the description names; the rest is counted. */
const SERVERS_NAMED_MAX = 40;

/** Characters of a found tool's description in a result: its definition comes with the next request anyway. */
const DESCRIPTION_SHOWN_MAX = 300;

/** What a model is told of the search for tools that are not listed. */
export function toolSearchDefinition(servers: readonly ExternalServer[]): ToolDefinition {
  const named = servers.filter((server) => server.tools.length > 0);
  const list = named.slice(0, SERVERS_NAMED_MAX).map(({ name, tools }) => `${name} (${counted(tools.length, "tool")})`);
  const more = named.length - list.length;
  if (more > 0) list.push(`and ${counted(more, "more server")}`);
  return {
    name: TOOL_SEARCH_NAME,
    description: [
      "Finds further tools, which are not listed here but can be used once found. Search by what a tool should do,",
      "one kind of action at a time, before you say that something cannot be done.",
      `There are tools of these servers: ${list.join(", ")}.`,
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: "What the tool should do, in a few words, such as: create a calendar event",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    agent: true,
    task_agent: true,
    auto_approve: true,
    primary_key: "query",
  };
}

/** Our own search, for models whose provider has none. It has no effect but that tools become visible. */
export const toolSearch: Tool = {
  name: TOOL_SEARCH_NAME,
  prepare(args) {
    const query = queryIn(args);
    return {
      ok: true,
      plan: { query },
      header: `tool_search: ${query}`,
      preview: "",
      needs_approval: false,
      effect: "none",
    };
  },
  execute(plan, context) {
    const query = queryIn(plan);
    const result = context.searchTools(query);
    const output = resultText(query, result);
    return Promise.resolve({
      output,
      is_error: false,
      effect: "none",
      ...(result.found.length === 0 ? {} : { expanded_tools: result.found.map((tool) => tool.name) }),
    });
  },
};

function queryIn(value: JsonValue): string {
  return isJsonObject(value) && typeof value["query"] === "string" ? value["query"].trim() : "";
}

function resultText(query: string, { found, total, already_visible, unavailable_servers }: ToolSearchResult): string {
  const lines: string[] = [];
  if (found.length > 0) {
    const count = total > found.length ? `${found.length} of ${total}` : String(found.length);
    lines.push(`Found ${count} matching tool${total === 1 ? "" : "s"}:`);
    lines.push(...found.map(({ name, description }) => `- **${name}**: ${shortened(description)}`));
    lines.push("They can be called from now on.");
    if (total > found.length) lines.push("Search again in other words for the rest.");
  }
  if (already_visible.length > 0) {
    lines.push(`Found before, and still there to be called: ${already_visible.join(", ")}.`);
  }
  if (lines.length === 0) {
    lines.push(
      query === ""
        ? "The query is empty: say in a few words what the tool should do."
        : "No tool matches. Say in other words what the tool should do, or go on with the tools you have.",
    );
  }
  if (unavailable_servers.length > 0) {
    lines.push(
      `Unavailable at present: ${unavailable_servers.join("; ")}. A tool that seems to be missing may belong to one of them.`,
    );
  }
  return lines.join("\n");
}

function shortened(description: string): string {
  const line = description.replace(/\s+/g, " ");
  return line.length <= DESCRIPTION_SHOWN_MAX ? line : `${line.slice(0, DESCRIPTION_SHOWN_MAX).toWellFormed()}…`;
}
