import { existsSync, readFileSync } from "node:fs";
import { ToolIndex } from "../../src/catalog/ranking.ts";
import type { ExternalTool } from "../../src/contracts/external_tools.ts";
import type { JsonObject } from "../../src/protocol/json.ts";

/** A folder with public tools (`tools.json`) and what tasks need of them (`tasks-dev.json`); it is not part of this. */
const FOLDER = process.env["TURNSTONE_TOOL_SEARCH_DATA"] ?? "";

export const has_tool_search_data = existsSync(`${FOLDER}/tools.json`);

interface PublicTool {
  server: string;
  name: string;
  description: string;
  inputSchema: JsonObject;
}

/** A task by its steps, and the tools that a person used for it. */
export interface PublicTask {
  steps: string[];
  tools: string[];
}

/** A tool to be found, which cannot be called. */
export function toolToFind(
  server: string,
  own_name: string,
  about: string,
  parameters: JsonObject = { type: "object" },
): ExternalTool {
  return {
    own_name,
    about,
    definition: {
      name: `mcp__${server}__${own_name}`,
      description: about,
      parameters,
      agent: true,
      task_agent: true,
      auto_approve: false,
      primary_key: "",
    },
    tool: {
      name: own_name,
      prepare: () => ({ ok: false, error: "not for calling" }),
      execute: () => Promise.reject(new Error("not for calling")),
    },
  };
}

/** Servers of 50 tools each, of words that differ as much as real ones. */
export function manyTools(server: string, count = 50): ExternalTool[] {
  const word = (seed: number): string => `word${(seed * 7919) % 3000}`;
  return Array.from({ length: count }, (_, index) => {
    const seed = index + server.length * 131 + Number(server.slice(1)) * 53;
    const text = Array.from({ length: 30 }, (_unused, at) => (at % 3 === 0 ? "get the data of" : word(seed + at))).join(
      " ",
    );
    const properties = Object.fromEntries(
      [1, 2, 3].map((at) => [word(seed + at), { type: "string", description: text.slice(0, 80) }]),
    );
    return toolToFind(server, `get_${word(seed)}_${index}`, text, { type: "object", properties });
  });
}

/** The public tasks, and how much of what some of them need is among the first results for their steps. */
export function publicTasks(): { tasks: PublicTask[]; recall: (some: readonly PublicTask[], count: number) => number } {
  const read = (file: string): unknown => JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8"));
  const tools = read("tools.json") as PublicTool[];
  const tasks = read("tasks-dev.json") as PublicTask[];
  const index = new ToolIndex();
  const own_names = new Map<string, string>();
  for (const [server, group] of Object.entries(Object.groupBy(tools, (one) => one.server))) {
    const made = (group ?? []).map((one) => toolToFind(server, one.name, one.description, one.inputSchema));
    for (const { definition, own_name } of made) own_names.set(definition.name, own_name);
    index.setServer(server, made);
  }
  const foundBy = (step: string, count: number): (string | undefined)[] =>
    index
      .search(step)
      .slice(0, count)
      .map(({ name }) => own_names.get(name));
  const recall = (some: readonly PublicTask[], count: number): number => {
    const shares = some.map(({ steps, tools: wanted }) => {
      const got = new Set(steps.flatMap((step) => foundBy(step, count)));
      return wanted.filter((name) => got.has(name)).length / wanted.length;
    });
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  };
  return { tasks, recall };
}
