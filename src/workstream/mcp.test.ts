import { afterEach, expect, test } from "vitest";
import type { ExternalServer, ExternalServers } from "../contracts/external_tools.ts";
import { startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo } from "../../test/support/little_tools.ts";
import { hostile, published, startServers } from "../../test/support/mcp/servers.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";
import { manyTools } from "../../test/support/tool_search_data.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Servers = ReturnType<typeof startServers>;

/** The engine with a server of tests behind it, connected. */
async function engineWithServer(options: EngineRigOptions = {}, server = hostile()) {
  let servers: Servers | null = null;
  const rig = await startEngine({
    tools: [echo],
    ...options,
    external_servers(catalog): ExternalServers {
      servers = startServers({ files: server }, { onChange: (external) => catalog.setExternal(external) });
      return servers.manager;
    },
  });
  if (servers === null) throw new Error("The rig made no servers.");
  const started: Servers = servers;
  closing.push(async () => {
    await started.close();
    await rig.close();
  });
  await started.manager.settled();
  return { rig, servers: started };
}

const ANA = { user_id: "u1", name: "Ana" };

test("an MCP tool is asked for, approved and called (REQ-MCP-001)", async () => {
  const { rig } = await engineWithServer();
  rig.provider.script(calls({ name: "mcp__files__echo", arguments: { text: "from afar" } }), says("It came."));
  const ws = await rig.open();
  await ws.say("echo it");
  await ws.until((frames) => frames.some((frame) => frame.event.type === "approve_request"));
  const { cycle_id, items } = ws.one("approve_request");
  expect(items[0]).toMatchObject({
    header: "mcp:files/echo",
    preview: "text: from afar",
    func_name: "mcp__files__echo",
    approval_label: "mcp__files__echo",
    needs_approval: true,
  });
  const approval = { approved: true, feedback: null, always: false, scope: null, cycle_id, call_id: null, calls: null };
  await rig.engine.approve(ws.ws_id, { ...approval, decided_by: ANA });
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ output: "from afar", is_error: false, effect: "done" });
  expect(rig.provider.requests[0]?.tools.map((tool) => tool.name)).toContain("mcp__files__echo");
});

const STARTED = {
  approved: true,
  feedback: null,
  always: false,
  scope: null,
  call_id: null,
  calls: null,
  decided_by: ANA,
};

test("found tools stay visible: over later turns, refreshes and a restart (TSRCH-02, TSRCH-03)", async () => {
  const tool_search = { mode: "on", threshold: 20, max_results: 2 } as const;
  const { rig, servers } = await engineWithServer({ tool_search });
  rig.provider.script(
    calls({ name: "tool_search", arguments: { query: "echo a text" } }),
    says("Found."),
    calls({
      id: "direct",
      name: "mcp__files__give",
      arguments: { result: { content: [{ type: "text", text: "unsearched" }] } },
    }),
    says("Called."),
  );
  const ws = await rig.open();
  await ws.say("look for it");
  await ws.turnEnded();
  const namesAt = (index: number): string[] => rig.provider.requests[index]?.tools.map((tool) => tool.name) ?? [];
  expect(namesAt(0)).toEqual(["echo", "tool_search"]);
  expect(ws.one("tool_result").output).toContain("- **mcp__files__echo**");
  expect(namesAt(1)).toEqual(["echo", "tool_search", "mcp__files__echo"]);
  await servers.manager.refresh(null);
  await ws.say("call another one unasked");
  await ws.until((frames) => frames.some((frame) => frame.event.type === "approve_request"));
  await rig.engine.approve(ws.ws_id, { ...STARTED, cycle_id: ws.one("approve_request").cycle_id });
  await ws.turnEnded(2);
  expect(namesAt(2)).toContain("mcp__files__echo");
  expect(
    ws
      .kept()
      .filter((event) => event.type === "tool_result")
      .at(-1),
  ).toMatchObject({ output: "unsearched" });
  await rig.crash();
  const second = await engineWithServer({ tool_search, folder: rig.folder });
  const again = second.rig.watch(ws.ws_id);
  await again.say("and now?");
  await again.turnEnded();
  expect(second.rig.provider.requests[0]?.tools.map((tool) => tool.name)).toContain("mcp__files__echo");
});

test("a model whose provider searches gets deferred tools, and what that finds stays", async () => {
  const { rig } = await engineWithServer({
    tool_search: { mode: "on", threshold: 20, max_results: 5 },
    capabilities: { supports_tool_search: true },
  });
  rig.provider.script(
    [{ type: "expanded_tools", names: ["mcp__files__echo"] }, ...says("I found it.")],
    says("Again."),
  );
  const ws = await rig.open();
  await ws.say("find it");
  await ws.turnEnded();
  const [first] = rig.provider.requests;
  expect(first?.tools.map((tool) => tool.name)).toEqual(["echo"]);
  expect(first?.deferred_tools.map((tool) => tool.name)).toContain("mcp__files__echo");
  await ws.say("again");
  await ws.turnEnded(2);
  expect(rig.provider.requests[1]?.tools.map((tool) => tool.name)).toEqual(["echo", "mcp__files__echo"]);
});

test("a call that was approved before a restart waits for its server", async () => {
  const first = await engineWithServer();
  first.rig.provider.script(calls({ name: "mcp__files__echo", arguments: { text: "late" } }));
  const ws = await first.rig.open();
  await ws.say("echo it");
  await ws.until((frames) => frames.some((frame) => frame.event.type === "approve_request"));
  await first.rig.crash();
  let servers: Servers | null = null;
  const rig = await startEngine({
    tools: [echo],
    folder: first.rig.folder,
    external_servers(catalog): ExternalServers {
      servers = startServers(
        { files: hostile({ answer_after_ms: 500 }) },
        { onChange: (external) => catalog.setExternal(external) },
      );
      return servers.manager;
    },
  });
  closing.push(async () => {
    await servers?.close();
    await rig.close();
  });
  rig.provider.script(says("It came."));
  const again = rig.watch(ws.ws_id);
  await rig.engine.recover();
  await rig.engine.approve(ws.ws_id, { ...STARTED, cycle_id: ws.one("approve_request").cycle_id });
  await again.turnEnded();
  expect(again.one("tool_result")).toMatchObject({ output: "late", is_error: false });
});

async function command(rig: Awaited<ReturnType<typeof startEngine>>, ws_id: string, line: string): Promise<string> {
  const answer = await rig.engine.command(ws_id, line, ANA);
  return answer.ok ? answer.output : answer.error;
}

test("/mcp lists tools, refreshes and sends prompts", async () => {
  const { rig } = await engineWithServer({}, published("server-everything", ["stdio"]));
  const ws = await rig.open();
  const list = await command(rig, ws.ws_id, "/mcp");
  expect(list).toMatch(/^MCP tools \(16\):\n {2}mcp__files__echo +\[MCP: files\] Echoes back the input/);
  expect(await command(rig, ws.ws_id, "/mcp refresh")).toBe("MCP refresh complete:\n  files: no changes");
  expect(await command(rig, ws.ws_id, "/mcp refresh files")).toBe("MCP refresh complete:\n  files: no changes");
  expect(await command(rig, ws.ws_id, "/mcp refresh other")).toBe("There is no MCP server other; known are files.");
  expect(await command(rig, ws.ws_id, "/mcp prompt")).toContain("/mcp prompt files args-prompt city=… [state=…]");
  rig.provider.script(says("Sunny."));
  expect(await command(rig, ws.ws_id, "/mcp prompt files args-prompt city=Bern")).toBe(
    "The prompt files/args-prompt was sent.",
  );
  await ws.turnEnded();
  expect(ws.one("user_turn").content).toContain("Bern");
});

test("/mcp without servers says so", async () => {
  const rig = await startEngine({ tools: [echo] });
  closing.push(() => rig.close());
  const ws = await rig.open();
  expect(await command(rig, ws.ws_id, "/mcp")).toBe("No MCP servers configured.");
});

test("five thousand tools make no turn longer by more than 5 ms", async () => {
  const rig = await startEngine({ tools: [echo] });
  closing.push(() => rig.close());
  const quickestTurn = async (): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      rig.provider.script(says("Yes."));
      const ws = await rig.open();
      const from = performance.now();
      await ws.say("hello");
      await ws.turnEnded();
      times.push(performance.now() - from);
    }
    return Math.min(...times);
  };
  const without = await quickestTurn();
  const servers = Array.from({ length: 100 }, (_value, index) => `s${index}`).map((name): ExternalServer => ({
    name,
    tools: manyTools(name),
    unavailable: null,
  }));
  rig.catalog.setExternal({ servers, absent: () => undefined });
  const with_all = await quickestTurn();
  expect(rig.provider.requests.at(-1)?.tools.map(({ name }) => name)).toContain("tool_search");
  expect(with_all - without).toBeLessThan(5);
});
