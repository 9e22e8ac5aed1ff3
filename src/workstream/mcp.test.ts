import { afterEach, expect, test } from "vitest";
import type { ExternalServers } from "../contracts/external_tools.ts";
import { startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo } from "../../test/support/little_tools.ts";
import { hostile, startServers } from "../../test/support/mcp/servers.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";

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
