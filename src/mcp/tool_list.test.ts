import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ExternalTool } from "../contracts/external_tools.ts";
import type { JsonObject } from "../protocol/json.ts";
import { hostile, startServers, type StartedServers } from "../../test/support/mcp/servers.ts";
import type { CallResult } from "../../test/support/tool_context.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function start(...given: Parameters<typeof startServers>): StartedServers {
  const servers = startServers(...given);
  closing.push(() => servers.close());
  return servers;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "turnstone-mcp-"));
  closing.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function ran(result: CallResult): Extract<CallResult, { prepared: true }> {
  if (!result.prepared) throw new Error(result.error);
  return result;
}

function recorded(path: string): JsonObject[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
}

function namesOf(tools: readonly ExternalTool[]): string[] {
  return tools.map((tool) => tool.own_name);
}

test("names beyond what providers take are shortened and mapped back (MCP-05)", async () => {
  const long = "t".repeat(60);
  const tools = [
    { name: long, inputSchema: {} },
    { name: `${long}x`, inputSchema: {} },
    { name: "dot.and space", inputSchema: {} },
  ];
  const record = join(folder(), "record");
  const { manager, call } = start({ "enterprise-database-management": hostile({ tools, record }) });
  await manager.settled();
  const names = manager.tools().map((tool) => tool.definition.name);
  expect(new Set(names).size).toBe(3);
  for (const name of names) {
    expect(name).toMatch(/^mcp__[A-Za-z0-9_-]{1,59}$/);
    await call(name, { text: "x" });
  }
  const called = recorded(record).filter((message) => message["method"] === "tools/call");
  expect(called.map((message) => (message["params"] as JsonObject)["name"])).toEqual(tools.map((tool) => tool.name));
});

test("full names that collide are told, and one tool is left (MCP-07, REQ-MCP-005)", async () => {
  const { manager, state } = start({
    a: hostile({ tools: [{ name: "_x", inputSchema: {} }] }),
    a_: hostile({ tools: [{ name: "x", inputSchema: {} }] }),
  });
  await manager.settled();
  expect(manager.tools().map((tool) => tool.definition.name)).toEqual(["mcp__a___x"]);
  expect(state("a_")?.left_out[0]).toContain("the server a has a tool of the same full name, mcp__a___x");
});

test("every page is read, up to a limit (MCP-09, MCP-30)", async () => {
  const tools_file = join(folder(), "tools.json");
  const tools = Array.from({ length: 1200 }, (_, index) => ({
    name: `t${index}`,
    inputSchema: {},
    description: "d".repeat(100),
  }));
  writeFileSync(tools_file, JSON.stringify(tools));
  const { manager, state } = start({
    paged: hostile({ page_size: 4 }),
    huge: hostile({ tools_file, page_size: 300 }),
    rude: hostile({
      tools: [{ name: "talk", description: `a\u0000\u001b[31m\u202eb${"c".repeat(100_000)}`, inputSchema: {} }],
    }),
  });
  await manager.settled();
  expect(state("paged")?.tools).toBeGreaterThan(8);
  expect(state("huge")).toMatchObject({ tools: 1000, left_out: [expect.stringContaining("more than 1,000 tools")] });
  const { description } = manager.tools().at(-1)?.definition ?? { description: "" };
  expect(description).toMatch(/^\[MCP: rude\] a\[31mbc+…$/);
  expect(description.length).toBe(1024);
});

test("one bad schema costs one tool (MCP-14)", async () => {
  const tools = [
    { name: "null", inputSchema: null },
    { name: "text", inputSchema: { type: "string" } },
    { name: "twice", inputSchema: {} },
    { name: "twice", inputSchema: {} },
    { nameless: true },
    {
      name: "odd",
      inputSchema: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "nonsense" } } },
    },
  ];
  const { manager, state, call } = start({ mixed: hostile({ tools }) });
  await manager.settled();
  expect(namesOf(manager.tools())).toEqual(["null", "twice", "odd"]);
  expect(state("mixed")?.left_out).toEqual([
    "text is not offered: it takes arguments that are not an object.",
    "twice is there twice; the first one is offered.",
    "A tool without a name is not offered.",
  ]);
  expect(ran(await call("odd", { text: "called" })).output).toBe("called");
});

test("a storm of notifications costs a few looks, and the last state wins (MCP-12, MCP-13, REQ-MCP-006)", async () => {
  const place = folder();
  const tools_file = join(place, "tools.json");
  const record = join(place, "record");
  const list = (...names: string[]): void =>
    writeFileSync(tools_file, JSON.stringify(names.map((name) => ({ name, inputSchema: {} }))));
  list("changed", "echo");
  const { manager, call, until, find } = start({ lively: hostile({ tools_file, record, pushes: true }) });
  await manager.settled();
  const vanishing = find("echo");
  const before = recorded(record).filter((message) => message["method"] === "tools/list").length;
  list("changed", "fresh");
  await call("changed", { times: 200 });
  await until(() => namesOf(manager.tools()).includes("fresh"));
  expect(namesOf(manager.tools())).toEqual(["changed", "fresh"]);
  const looks = recorded(record).filter((message) => message["method"] === "tools/list").length - before;
  expect(looks).toBeLessThanOrEqual(2);
  expect(vanishing.definition.name).toBe("mcp__lively__echo");
});

test("a failed refresh keeps the last good list and says so; a later one mends it (MCP-29)", async () => {
  const tools_file = join(folder(), "tools.json");
  const tools = JSON.stringify([{ name: "echo", inputSchema: {} }]);
  writeFileSync(tools_file, tools);
  const { manager, state } = start({ moody: hostile({ tools_file }) });
  await manager.settled();
  rmSync(tools_file);
  expect(await manager.refresh("moody")).toEqual([
    { server: "moody", ok: false, error: expect.stringContaining("the list is broken") },
  ]);
  expect(namesOf(manager.tools())).toEqual(["echo"]);
  expect(state("moody")).toMatchObject({ state: "ready", problem: expect.stringContaining("the last list stays") });
  writeFileSync(tools_file, tools.replace("echo", "renamed"));
  expect(await manager.refresh(null)).toEqual([
    { server: "moody", ok: true, added: ["mcp__moody__renamed"], removed: ["mcp__moody__echo"] },
  ]);
  expect(state("moody")?.problem).toBeNull();
  expect(await manager.refresh("moody")).toEqual([{ server: "moody", ok: true, added: [], removed: [] }]);
  expect(await manager.refresh("nobody")).toBeNull();
});

test("servers that do not push are looked at now and then", async () => {
  const tools_file = join(folder(), "tools.json");
  writeFileSync(tools_file, JSON.stringify([{ name: "one", inputSchema: {} }]));
  const { manager, until } = start({ quiet: hostile({ tools_file }) }, { refresh_interval_s: 1 });
  await manager.settled();
  writeFileSync(tools_file, JSON.stringify([{ name: "two", inputSchema: {} }]));
  await until(() => namesOf(manager.tools()).includes("two"));
  expect(namesOf(manager.tools())).toEqual(["two"]);
});
