import { expect, test } from "vitest";
import type { ExternalServer, ExternalTool } from "../contracts/external_tools.ts";
import type { Tool } from "../contracts/tool.ts";
import type { ToolDefinition } from "../protocol/tool_definition.ts";
import { toolBench } from "../../test/support/tool_context.ts";
import { createCatalog, type Catalog } from "./catalog.ts";
import { toolSearch, type ToolSearchSettings } from "./tool_search.ts";

function definition(name: string, agent = true): ToolDefinition {
  return {
    name,
    description: `${name} for tests`,
    parameters: { type: "object", properties: { text: { type: "string" } }, required: [], additionalProperties: false },
    agent,
    task_agent: agent,
    auto_approve: false,
    primary_key: "text",
  };
}

function code(name: string): Tool {
  return {
    name,
    prepare: () => ({ ok: true, plan: null, header: name, preview: "", needs_approval: true, effect: "none" }),
    execute: () => Promise.resolve({ output: name, is_error: false, effect: "none" }),
  };
}

const OWN = Array.from({ length: 15 }, (_, index) => `own${String(index).padStart(2, "0")}`);

function external(server: string, names: string[], about = (name: string): string => name): ExternalServer {
  const tools = names.map((own_name): ExternalTool => {
    const name = `mcp__${server}__${own_name}`;
    return {
      definition: { ...definition(name), description: about(own_name) },
      tool: code(name),
      own_name,
      about: about(own_name),
    };
  });
  return { name: server, tools, unavailable: null };
}

function catalogWith(servers: ExternalServer[], search?: Partial<ToolSearchSettings>): Catalog {
  const settings: ToolSearchSettings = { mode: "auto", threshold: 20, max_results: 5, ...search };
  const catalog = createCatalog(
    OWN.map((name) => definition(name)),
    OWN.map(code),
    new Set(["own14"]),
    settings,
  );
  catalog.setExternal({ servers, absent: () => undefined });
  return catalog;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `tool${index}`);
}

const NOBODY: ReadonlySet<string> = new Set();
const MAIN = { kind: "main", expanded: NOBODY, native_search: false } as const;

function namesOf(catalog: Catalog, request: Parameters<Catalog["offered"]>[0] = MAIN): string[] {
  return catalog.offered(request).tools.map((tool) => tool.name);
}

test.each([
  [4, false],
  [5, true],
  [6, true],
])("fifteen tools of our own and %i of others: searched for is %s (TSRCH-06)", (count, searched) => {
  const names = namesOf(catalogWith([external("s", numbered(count))]));
  expect(names.includes("tool_search")).toBe(searched);
  expect(names.includes("mcp__s__tool0")).toBe(!searched);
  expect(names.slice(0, 14)).toEqual(OWN.slice(0, 14));
});

test("the setting decides before the number does", () => {
  expect(namesOf(catalogWith([external("s", numbered(50))], { mode: "off" }))).not.toContain("tool_search");
  expect(namesOf(catalogWith([external("s", numbered(1))], { mode: "on" }))).toContain("tool_search");
  expect(namesOf(catalogWith([], { mode: "on" }))).not.toContain("tool_search");
});

test("the search names the servers with their counts", () => {
  const catalog = catalogWith([external("github", numbered(12)), external("other", numbered(1))]);
  const search = catalog.offered(MAIN).tools.find((tool) => tool.name === "tool_search");
  expect(search?.description).toContain("github (12 tools), other (1 tool)");
});

test("a search says how many of all matches it shows, and makes those visible (TSRCH-06)", async () => {
  const catalog = catalogWith([
    external("s", numbered(9), () => "sends letters"),
    external("t", numbered(3), () => "paints walls"),
  ]);
  const expanded = new Set<string>();
  const bench = toolBench({ searchTools: (query) => catalog.searchTools(query, expanded) });
  try {
    const result = await bench.call(toolSearch, { query: "send a letter" });
    if (!result.prepared) throw new Error(result.error);
    expect(result.output).toContain("Found 5 of 9 matching tools:\n- **mcp__s__tool0**: sends letters\n");
    expect(result.expanded_tools).toEqual([0, 1, 2, 3, 4].map((index) => `mcp__s__tool${index}`));
    for (const name of result.expanded_tools ?? []) expanded.add(name);
    const again = await bench.call(toolSearch, { query: "send a letter" });
    if (!again.prepared) throw new Error(again.error);
    expect(again.output).toContain("Found 4 matching tools:");
    expect(again.output).toContain("Found before, and still there to be called: mcp__s__tool0,");
    expect(namesOf(catalog, { ...MAIN, expanded })).toEqual([...OWN.slice(0, 14), "tool_search", ...expanded]);
  } finally {
    bench.remove();
  }
});

test("a server that is down is told instead of a plain no (TSRCH-04)", async () => {
  const down: ExternalServer = { name: "github", tools: [], unavailable: "The program ended with exit code 1." };
  const catalog = catalogWith([external("s", numbered(9)), down]);
  const bench = toolBench({ searchTools: (query) => catalog.searchTools(query, NOBODY) });
  try {
    const result = await bench.call(toolSearch, { query: "create a pull request" });
    if (!result.prepared) throw new Error(result.error);
    expect(result.output).toContain("No tool matches.");
    expect(result.output).toContain("Unavailable at present: github (The program ended with exit code 1.)");
    expect(result).not.toHaveProperty("expanded_tools");
    expect(catalog.searchTools("tool3", NOBODY).unavailable_servers).toHaveLength(1);
  } finally {
    bench.remove();
  }
});

test("a provider's own search gets the deferred tools, and what was found moves to the others", () => {
  const catalog = catalogWith([external("s", numbered(9))]);
  const fresh = catalog.offered({ ...MAIN, native_search: true });
  expect(fresh.tools.map((tool) => tool.name)).toEqual(OWN.slice(0, 14));
  expect(fresh.deferred).toHaveLength(9);
  const later = catalog.offered({ ...MAIN, native_search: true, expanded: new Set(["mcp__s__tool3", "mcp__gone__x"]) });
  expect(later.tools.at(-1)?.name).toBe("mcp__s__tool3");
  expect(later.deferred.map((tool) => tool.name)).not.toContain("mcp__s__tool3");
  expect(later.deferred).toHaveLength(8);
});

test("with thousands of tools a request stays small, whoever searches (REQ-TOOL-032)", () => {
  const catalog = catalogWith(Array.from({ length: 10 }, (_, index) => external(`s${index}`, numbered(500))));
  for (const native_search of [false, true]) {
    const { tools, deferred } = catalog.offered({ ...MAIN, native_search });
    expect(tools.map((tool) => tool.name)).toEqual([...OWN.slice(0, 14), "tool_search"]);
    expect(deferred).toEqual([]);
  }
});

test("sub-agents see external tools, and search only beyond what a model takes", () => {
  const few = catalogWith([external("s", numbered(114))]);
  expect(namesOf(few, { ...MAIN, kind: "task" })).toHaveLength(128);
  expect(few.allows("task", "tool_search")).toBe(false);
  const many = catalogWith([external("s", numbered(115))]);
  expect(namesOf(many, { ...MAIN, kind: "plan" })).toEqual([...OWN.slice(0, 14), "tool_search"]);
  expect(many.allows("plan", "tool_search")).toBe(true);
});

test("offers are the same arrays until something in them changes", () => {
  const one = external("one", numbered(9));
  const catalog = catalogWith([one]);
  const expanded = new Set(["mcp__one__tool1"]);
  const request = { ...MAIN, native_search: true, expanded };
  const before = catalog.offered(request);
  expect(catalog.offered(request)).toBe(before);
  catalog.setExternal({ servers: [{ ...one, unavailable: "gone" }], absent: () => undefined });
  expect(catalog.offered(request)).toBe(before);
  catalog.setExternal({ servers: [one, external("two", numbered(2))], absent: () => undefined });
  const after = catalog.offered(request);
  expect(after.tools).toBe(before.tools);
  expect(after.deferred).toHaveLength(10);
  expanded.add("mcp__two__tool0");
  expect(catalog.offered(request).tools.map((tool) => tool.name)).toContain("mcp__two__tool0");
});

test("a deferred tool can be called without a search (TSRCH-02)", () => {
  const catalog = catalogWith([external("s", numbered(9))]);
  expect(catalog.find("mcp__s__tool8")?.definition.name).toBe("mcp__s__tool8");
  expect(catalog.allows("main", "mcp__s__tool8")).toBe(true);
});

test("a tool of others that is called like one of ours is another tool (MCP-08)", () => {
  const catalog = catalogWith([external("s", ["own00"])]);
  expect(catalog.find("own00")?.built_in).toBe(true);
  expect(catalog.find("mcp__s__own00")?.built_in).toBe(false);
});
