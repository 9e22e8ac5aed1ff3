import { afterEach, beforeEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { calls, says, type Script } from "../../test/support/scripted_provider.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock, timestamp } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { notifyTool } from "../tools/notify.ts";
import { taskTool } from "../tools/task.ts";
import { createDelivery } from "./delivery.ts";
import type { EngineServices } from "./services.ts";
import { builtIn, castProvider, type Roles } from "./testing/cast.ts";
import { playedGateways, type PlayedGateways } from "./testing/played_gateways.ts";

const tools = [builtIn(notifyTool()), builtIn(taskTool())];
const rigs: { close(): Promise<void> }[] = [];
let gateways: PlayedGateways;

beforeEach(() => void (gateways = playedGateways()));
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  await gateways.close();
});

function deliver(store: Store): EngineServices["deliver"] {
  const common = { clock: systemClock, log: silentLog, redact: (text: string) => text };
  return createDelivery({ ...common, store, jwt_secret: "s".repeat(32), first_wait_ms: 5 });
}

async function start(roles: Roles, options: EngineRigOptions = {}) {
  const rig = await startEngine({ tools, provider: castProvider(roles), deliver, ...options });
  rigs.push(rig);
  return rig;
}

async function register(store: Store, url: string): Promise<void> {
  const last_heartbeat = timestamp(systemClock);
  await store.services.heartbeat({ service_type: "channel", service_id: "g", url, metadata: {}, last_heartbeat });
}

function sent(): { status: number; body: string } {
  return {
    status: 200,
    body: JSON.stringify({ results: [{ channel_type: "discord", channel_id: "7", status: "sent", message_id: "8" }] }),
  };
}

function notes(...messages: string[]): Script {
  return calls(
    ...messages.map((message, index) => ({
      id: `call_${index}`,
      name: "notify",
      arguments: { message, username: "ada" },
    })),
  );
}

test("a notification goes out unasked, and its text and receipt are part of the history", async () => {
  const gateway = await gateways.open(sent);
  const { open, store, provider } = await start({ go: [notes("The build is green."), says("Told.")] });
  await register(store, gateway.url);
  const ws = await open();
  await ws.say("go");
  await ws.turnEnded();
  expect(ws.types()).not.toContain("approve_request");
  expect(ws.one("notification")).toMatchObject({
    target: { username: "ada" },
    message: "The build is green.",
    deliveries: [{ channel_type: "discord", channel_id: "7", status: "sent", message_id: "8" }],
  });
  expect(provider.requests[1]?.messages.at(-1)).toMatchObject({
    role: "tool",
    content: [{ type: "text", text: "sent" }],
  });
  expect(gateway.asked[0]?.body).toMatchObject({ ws_id: ws.ws_id, message: "The build is green." });
});

test("what went wrong is told in general words, and there is no receipt", async () => {
  const gateway = await gateways.open(() => ({ status: 500, body: '{"error":"secret cause"}' }));
  const { open, store } = await start({ go: [notes("hi"), says("I see.")] });
  await register(store, gateway.url);
  const ws = await open();
  await ws.say("go");
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({
    is_error: true,
    output: expect.not.stringMatching(/secret cause|127\.0\.0\.1/),
  });
  expect(ws.types()).not.toContain("notification");
});

test("a sub-agent sends within its parent's limit, for its parent's conversation", async () => {
  const gateway = await gateways.open(sent);
  const roles = {
    go: [
      notes("1", "2", "3"),
      calls({ id: "t", name: "task", arguments: { prompt: "Tell" } }),
      notes("7"),
      says("Done."),
    ],
    Tell: [notes("4", "5", "6"), says("Told.")],
  };
  const { open, store } = await start(roles);
  await register(store, gateway.url);
  const ws = await open({ auto_approve_tools: ["task"] });
  await ws.say("go");
  await ws.turnEnded();
  expect(gateway.asked).toHaveLength(5);
  expect(gateway.asked.every(({ body }) => body["ws_id"] === ws.ws_id)).toBe(true);
  const refused = ws.frames.filter(({ event }) => event.type === "tool_result" && event.is_error);
  expect(refused.map(({ child }) => child !== null)).toEqual([true, false]);
  const ids = gateway.asked.map(({ body }) => body["notification_id"]);
  expect(new Set(ids).size).toBe(5);
});

// REQ-CRASH-007
test("a notification that a crash interrupted goes out under the same id after the restart, and the turn goes on", async () => {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const hanging = await gateways.open(() => {
    resolve();
    return new Promise(() => {});
  });
  const roles: Roles = { go: [notes("The build is green."), says("Told.")] };
  const provider = castProvider(roles);
  const first = await startEngine({ tools, provider, deliver });
  await register(first.store, hanging.url);
  const before = await first.open();
  await before.say("go");
  await reached;
  await first.crash();

  const live = await gateways.open(sent);
  const second = await start(roles, { folder: first.folder, provider });
  await register(second.store, live.url);
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ output: "sent", is_error: false });
  const id = hanging.asked[0]?.body["notification_id"];
  expect(live.asked.map(({ body }) => body["notification_id"])).toEqual([id]);
  expect(ws.one("notification").notification_id).toBe(id);
});

test("a cancel does not wait for a gateway (NTFY-05)", async () => {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const hanging = await gateways.open(() => {
    resolve();
    return new Promise(() => {});
  });
  const { engine, open, store } = await start({ go: [notes("hi")] });
  await register(store, hanging.url);
  const ws = await open();
  await ws.say("go");
  await reached;
  await engine.cancel(ws.ws_id, false);
  expect(ws.one("tool_result")).toMatchObject({
    output: expect.stringContaining("Cancelled by the user while notify"),
    effect: "unknown",
  });
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "cancelled" });
});
