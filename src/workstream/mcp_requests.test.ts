import { afterEach, expect, test } from "vitest";
import {
  startEngine,
  type EngineRig,
  type EngineRigOptions,
  type WatchedWorkstream,
} from "../../test/support/engine_rig.ts";
import { hostile, published, startServers } from "../../test/support/mcp/servers.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";
import type { KeptEvent } from "../protocol/event.ts";
import type { McpRequestBody } from "../protocol/mcp_request.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const ANA = { user_id: "u1", name: "Ana" };
const FORM = {
  message: "Where to?",
  requestedSchema: {
    type: "object",
    properties: { town: { type: "string", title: "Town" }, nights: { type: "integer", minimum: 1 } },
    required: ["town"],
  },
};

/** The engine with one server behind it, whose calls need no approval. */
async function rigWith(server = hostile(), options: EngineRigOptions = {}): Promise<EngineRig> {
  let servers: ReturnType<typeof startServers> | null = null;
  const rig = await startEngine({
    ...options,
    external_servers(catalog) {
      servers = startServers({ s: server }, { onChange: (external) => catalog.setExternal(external) });
      return servers.manager;
    },
  });
  const started = servers as ReturnType<typeof startServers> | null;
  if (started === null) throw new Error("The rig made no servers.");
  closing.push(async () => {
    await rig.close();
    await started.close();
  });
  await started.manager.settled();
  return rig;
}

function asks(method: string, params: object, id = "call_a") {
  return calls({ id, name: "mcp__s__ask", arguments: { method, params } });
}

async function asked(ws: WatchedWorkstream, count = 1): Promise<Extract<KeptEvent, { type: "mcp_request" }>> {
  const all = () => ws.kept().filter((event) => event.type === "mcp_request");
  await ws.until(() => all().length >= count);
  const event = all()[count - 1];
  if (event === undefined) throw new Error("Nothing was asked.");
  return event;
}

test("a form of a server is answered by a person, and what was filled in is in no journal", async () => {
  const rig = await rigWith();
  rig.provider.script(asks("elicitation/create", FORM), says("Booked."));
  const ws = await rig.open({ auto_approve: true });
  await ws.say("book it");
  const { request_id, request, server, call_id } = await asked(ws);
  expect({ server, call_id }).toEqual({ server: "s", call_id: "call_a" });
  expect(request).toMatchObject({ kind: "form", message: "Where to?" });
  await ws.until((frames) => frames.some(({ event }) => event.type === "state_change" && event.state === "attention"));
  const answer = (body: McpRequestBody) =>
    rig.engine.answerMcpRequest(ws.ws_id, request_id, { ...body, decided_by: ANA });
  expect(await answer({ action: "accept", content: { nights: "none" } })).toEqual({
    ok: false,
    reason: "invalid",
    error: "nights: a number is asked for.",
  });
  expect(await answer({ action: "accept", content: { nights: "3" } })).toMatchObject({
    done: false,
    missing: ["town"],
  });
  expect(await rig.engine.mcpRequest(ws.ws_id, request_id)).toMatchObject({ given: { nights: 3 } });
  expect(await answer({ action: "accept", content: { town: "Timbuktu" } })).toMatchObject({ ok: true, done: true });
  expect(await answer({ action: "decline" })).toMatchObject({ reason: "settled", decided_by: ANA });
  await ws.turnEnded();
  expect(JSON.parse(ws.one("tool_result").output)).toEqual({
    action: "accept",
    content: { nights: 3, town: "Timbuktu" },
  });
  expect(ws.one("mcp_request_resolved")).toEqual({
    type: "mcp_request_resolved",
    request_id,
    action: "accept",
    decided_by: ANA,
    reason: "person",
  });
  const others = ws.kept().filter(({ type }) => type !== "tool_result");
  expect(JSON.stringify(others)).not.toContain("Timbuktu");
  expect(await rig.engine.mcpRequest(ws.ws_id, request_id)).toBeNull();
});

test("a call waits for people beyond its own time", async () => {
  const rig = await rigWith(hostile(), { settings: { tool_timeout_s: 1 } });
  rig.provider.script(asks("elicitation/create", FORM), says("Fine."));
  const ws = await rig.open({ auto_approve: true });
  await ws.say("book it");
  const { request_id } = await asked(ws);
  await rig.services.clock.sleep(1300);
  await rig.engine.answerMcpRequest(ws.ws_id, request_id, { action: "decline", decided_by: ANA });
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ output: '{"action":"decline"}', is_error: false });
});

test("our model writes for a server after a person said yes to the whole prompt, and not before", async () => {
  const rig = await rigWith(published("server-everything"));
  await rig.services.external_servers?.refresh("s");
  const wish = { name: "mcp__s__trigger-sampling-request", arguments: { prompt: "a haiku", maxTokens: 50 } };
  rig.provider.script(calls(wish), says("Leaves fall."), calls({ ...wish, id: "second" }), says("It refused."));
  const ws = await rig.open({ auto_approve: true });
  await ws.say("try it");
  const first = await asked(ws);
  expect(first.request).toEqual({
    kind: "sampling",
    system: "You are a helpful test server.",
    messages: [{ role: "user", text: "Resource trigger-sampling-request context: a haiku" }],
    output_tokens_max: 50,
  });
  expect(rig.provider.requests).toHaveLength(1);
  await rig.engine.answerMcpRequest(ws.ws_id, first.request_id, { action: "accept", decided_by: ANA });
  const second = await asked(ws, 2);
  expect(rig.provider.requests[1]).toMatchObject({ system: "You are a helpful test server.", tools: [] });
  expect(ws.one("tool_result").output).toContain("Leaves fall.");
  await rig.engine.answerMcpRequest(ws.ws_id, second.request_id, { action: "decline", decided_by: ANA });
  await ws.turnEnded();
  expect(ws.kept().findLast(({ type }) => type === "tool_result")).toMatchObject({ is_error: true });
  expect(rig.provider.requests).toHaveLength(4);
});

test("a server whose calls belong to two conversations asks in neither", async () => {
  const rig = await rigWith();
  const hang = calls({ id: "slow", name: "mcp__s__hang", arguments: {} });
  rig.provider.script(hang, asks("elicitation/create", FORM), says("It was not asked."));
  const one = await rig.open({ auto_approve: true });
  await one.say("hang");
  await one.until(() => one.types().includes("tool_started"));
  const other = await rig.open({ auto_approve: true });
  await other.say("ask");
  await other.turnEnded();
  expect(other.one("tool_result").output).toBe('{"action":"cancel"}');
  expect([...one.types(), ...other.types()]).not.toContain("mcp_request");
  await rig.engine.cancel(one.ws_id, false);
});

test("what nobody answered is over with its call: after Stop, and after a crash", async () => {
  const rig = await rigWith();
  rig.provider.script(asks("elicitation/create", FORM), asks("elicitation/create", FORM), says("Unknown then."));
  const ws = await rig.open({ auto_approve: true });
  await ws.say("ask");
  const first = await asked(ws);
  await rig.engine.cancel(ws.ws_id, false);
  const late = { action: "decline" as const, decided_by: ANA };
  expect(await rig.engine.answerMcpRequest(ws.ws_id, first.request_id, late)).toMatchObject({ ok: false });
  await ws.say("ask again");
  const second = await asked(ws, 2);
  expect((await rig.engine.snapshot(ws.ws_id))?.pending).toHaveLength(1);
  const { folder, provider } = rig;
  await rig.crash();
  const after = await startEngine({ folder, provider });
  closing.push(() => after.close());
  const again = after.watch(ws.ws_id);
  await after.engine.recover();
  await again.turnEnded();
  expect(again.one("tool_result")).toMatchObject({ effect: "unknown" });
  expect((await after.engine.snapshot(ws.ws_id))?.pending).toEqual([]);
  expect(await after.engine.answerMcpRequest(ws.ws_id, second.request_id, late)).toMatchObject({
    reason: "nothing_pending",
  });
});

test("where a server wants a page dealt with first, a person is asked, and the model learns that it has to wait", async () => {
  const rig = await rigWith(published("server-everything"));
  await rig.services.external_servers?.refresh("s");
  const args = { url: "https://example.org/pay", message: "Pay first.", errorPath: true };
  const name = "mcp__s__trigger-url-elicitation";
  rig.provider.script(calls({ name, arguments: args }), calls({ name, arguments: args, id: "again" }), says("Paid."));
  const ws = await rig.open({ auto_approve: true });
  await ws.say("pay");
  const first = await asked(ws);
  expect(first.request).toMatchObject({ kind: "link", url: "https://modelcontextprotocol.io/" });
  const yes = { action: "accept" as const, decided_by: ANA };
  await rig.engine.answerMcpRequest(ws.ws_id, first.request_id, yes);
  const second = await asked(ws, 2);
  expect(ws.one("tool_result")).toMatchObject({ is_error: true, effect: "none" });
  expect(ws.one("tool_result").output).toMatch(/a person must do something on a page first, and has agreed to/);
  expect(second.request).toEqual({ kind: "link", message: "Pay first.", url: "https://example.org/pay" });
  await rig.engine.answerMcpRequest(ws.ws_id, second.request_id, yes);
  await ws.turnEnded();
  expect(ws.kept().findLast(({ type }) => type === "tool_result")).toMatchObject({ is_error: false });
});
