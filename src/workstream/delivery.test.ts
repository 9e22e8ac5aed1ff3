import { afterEach, beforeEach, expect, test } from "vitest";
import { authorizeCaller } from "../../gateway/notify/authorize.ts";
import { temporaryStore, type TemporaryStore } from "../../test/support/temporary_store.ts";
import { TurnAborted } from "../agent/turn_port.ts";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createDelivery, type DeliveryOptions } from "./delivery.ts";
import type { Delivery } from "./services.ts";
import { playedGateways, type Play, type PlayedGateways } from "./testing/played_gateways.ts";

const SECRET = "s".repeat(32);
const WS = "a".repeat(32);
const SENT = [{ channel_type: "discord", channel_id: "7", status: "sent", message_id: "8" }];

let kept: TemporaryStore;
let gateways: PlayedGateways;
let logged: string[];
beforeEach(async () => {
  kept = await temporaryStore();
  await kept.converse(WS, "u1", ["hi"]);
  gateways = playedGateways();
  logged = [];
});
afterEach(async () => {
  await gateways.close();
  await kept.remove();
});

function answers(results: unknown, status = 200): Play {
  return () => ({ status, body: JSON.stringify({ results }) });
}

/** Registers gateways, the first as the newest. */
async function register(...urls: string[]): Promise<void> {
  for (const [index, url] of urls.entries()) await beat(`gateway ${index}`, url, index * 1000);
}

function beat(service_id: string, url: string, age_ms: number): Promise<void> {
  const last_heartbeat = new Date(Date.now() - age_ms).toISOString();
  return kept.store.services.heartbeat({ service_type: "channel", service_id, url, metadata: {}, last_heartbeat });
}

function recordingLog(): Log {
  const write = (event: string, fields: Record<string, unknown> = {}): void =>
    void logged.push(`${event} ${JSON.stringify(fields)}`);
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

function sender(options: Partial<DeliveryOptions> = {}) {
  return createDelivery({
    store: kept.store,
    clock: systemClock,
    log: recordingLog(),
    jwt_secret: SECRET,
    redact: (text) => text.replaceAll("hunter2", "[redacted]"),
    first_wait_ms: 5,
    ...options,
  });
}

function delivery(fields: Partial<Delivery> = {}): Delivery {
  return {
    notification_id: "notification_1",
    ws_id: WS,
    turn_seq: 1,
    call_id: "c1",
    target: { username: "ada" },
    message: "The build is green.",
    signal: new AbortController().signal,
    ...fields,
  };
}

test("a notification reaches a healthy gateway with a token that it accepts, and its receipt is kept", async () => {
  const live = await gateways.open(answers(SENT));
  await register(live.url);
  const result = await sender()(delivery({ title: "Build" }));
  expect(result).toEqual({ ok: true, notification_id: "notification_1", deliveries: SENT });
  const [{ body, authorization } = { body: {}, authorization: "" }] = live.asked;
  expect(body).toEqual({
    target: { username: "ada" },
    message: "The build is green.",
    title: "Build",
    ws_id: WS,
    notification_id: "notification_1",
  });
  expect(await authorizeCaller(SECRET, systemClock, authorization)).toMatchObject({ ok: true });
  expect(await kept.store.notifications.get("notification_1")).toMatchObject({ state: "sent", deliveries: SENT });
});

// REQ-NOTIFY-006
test("a dead gateway gives way to a live one in the same attempt, and a stale one is not asked (NTFY-03)", async () => {
  const live = await gateways.open(answers(SENT));
  const stale = await gateways.open(answers(SENT));
  await register(await gateways.closedPort(), live.url);
  await beat("stale", stale.url, 121_000);
  expect(await sender({ first_wait_ms: 60_000 })(delivery())).toMatchObject({ ok: true });
  expect(live.asked).toHaveLength(1);
  expect(stale.asked).toEqual([]);
});

test("the newest gateway is asked first", async () => {
  const newest = await gateways.open(answers(SENT));
  const older = await gateways.open(answers(SENT));
  await register(newest.url, older.url);
  await sender()(delivery());
  expect([newest.asked.length, older.asked.length]).toEqual([1, 0]);
});

test.each([
  ["all failed", { results: [{ channel_type: "discord", channel_id: "7", status: "failed", reason: "closed DMs" }] }],
  ["a timeout", { results: [{ channel_type: "discord", channel_id: "7", status: "timeout" }] }],
  ["no list", { results: "sent" }],
  ["an empty list", { results: [] }],
  ["no object", "sent"],
  ["words that are no delivery", { results: [{ status: "sent" }, "sent", null] }],
])("a 200 with %s is a failure: three attempts, one id, and general words (NTFY-04)", async (_name, body) => {
  const lying = await gateways.open(() => ({ status: 200, body: JSON.stringify(body) }));
  await register(lying.url);
  const result = await sender()(delivery());
  expect(result).toMatchObject({ ok: false, deliveries: [] });
  expect(JSON.stringify(result)).not.toMatch(/127\.0\.0\.1|closed DMs/);
  expect(lying.asked.map((one) => one.body["notification_id"])).toEqual(Array(3).fill("notification_1"));
  expect(logged.join("\n")).toContain(lying.url);
  expect(await kept.store.notifications.get("notification_1")).toMatchObject({ state: "failed" });
});

test.each([401, 404, 429, 500, 302])(
  "status %i is a failure of that gateway, and its words stay in the log",
  async (status) => {
    const failing = await gateways.open(() => ({ status, body: '{"error":"the reason"}' }));
    const live = await gateways.open(answers(SENT));
    await register(failing.url, live.url);
    expect(await sender()(delivery())).toMatchObject({ ok: true });
    expect(logged.join("\n")).toContain(`HTTP ${status}`);
  },
);

test("one delivery of several suffices (NTFY-18)", async () => {
  const half = await gateways.open(
    answers([{ channel_type: "discord", channel_id: "1", status: "failed", reason: "closed DMs" }, ...SENT]),
  );
  await register(half.url);
  const result = await sender()(delivery());
  expect(result).toMatchObject({
    ok: true,
    deliveries: [
      { channel_id: "1", status: "failed" },
      { channel_id: "7", status: "sent" },
    ],
  });
  expect(JSON.stringify(result)).not.toContain("closed DMs");
  expect(half.asked).toHaveLength(1);
});

test("a gateway that does not answer is left after its time, and the next one serves (NTFY-19)", async () => {
  const hanging = await gateways.open(() => new Promise(() => {}));
  const live = await gateways.open(answers(SENT));
  await register(hanging.url, live.url);
  expect(await sender({ request_timeout_ms: 50 })(delivery())).toMatchObject({ ok: true });
  expect(hanging.asked).toHaveLength(1);
});

test("a gateway that broke off is asked for longer, until it tells what became of the notification", async () => {
  const returning = await gateways.open((count) => (count <= 4 ? null : answers(SENT)(count)));
  await register(returning.url);
  expect(await sender()(delivery())).toMatchObject({ ok: true, deliveries: SENT });
  expect(returning.asked.map((one) => one.body["notification_id"])).toEqual(Array(5).fill("notification_1"));
});

test("where no gateway tells what became of a notification, nobody says that it was not delivered", async () => {
  const dying = await gateways.open(() => null);
  await register(dying.url);
  const result = await sender()(delivery());
  expect(result).toMatchObject({ ok: false, unknown: true, error: expect.stringContaining("is unknown") });
  expect(await kept.store.notifications.get("notification_1")).toMatchObject({ state: "sending" });
});

test("the registry is read afresh for each attempt: a gateway that comes up meanwhile is found", async () => {
  const late = await gateways.open(answers(SENT));
  const failing = await gateways.open(async (count) => {
    if (count === 2) await beat("late", late.url, -1000);
    return { status: 503, body: "{}" };
  });
  await register(failing.url);
  expect(await sender()(delivery())).toMatchObject({ ok: true });
  expect([failing.asked.length, late.asked.length]).toEqual([2, 1]);
});

test("without any gateway three attempts are made, and then it is over (NTFY-05, REQ-NOTIFY-007)", async () => {
  expect(await sender()(delivery())).toMatchObject({ ok: false });
  expect(logged.filter((line) => line.startsWith("notification.no_gateway"))).toHaveLength(3);
});

test("the second wait is three times as long as the first (NTFY-05)", async () => {
  const before = performance.now();
  expect(await sender({ first_wait_ms: 50 })(delivery())).toMatchObject({ ok: false });
  expect(performance.now() - before).toBeGreaterThan(195);
});

test("registered addresses that are not of the web are skipped (NTFY-06)", async () => {
  const live = await gateways.open(answers(SENT));
  await register("file:///etc/passwd", "ftp://127.0.0.1/", "no address", live.url);
  expect(await sender()(delivery())).toMatchObject({ ok: true });
  expect(logged.filter((line) => line.startsWith("notification.gateway_skipped"))).toHaveLength(3);
});

// REQ-NOTIFY-008
test("five are delivered in a turn, parallel calls do not overshoot, and the next turn has five again", async () => {
  const live = await gateways.open(answers(SENT));
  await register(live.url);
  const send = sender();
  const all = await Promise.all(
    Array.from({ length: 8 }, (_, index) => send(delivery({ notification_id: `n${index}` }))),
  );
  expect(all.filter((result) => result.ok)).toHaveLength(5);
  expect(live.asked).toHaveLength(5);
  expect(all.find((result) => !result.ok)).toMatchObject({ error: expect.stringContaining("limit") });
  expect(await send(delivery({ notification_id: "next", turn_seq: 9 }))).toMatchObject({ ok: true });
});

test("a failure gives its place back", async () => {
  const send = sender();
  for (let index = 0; index < 6; index += 1) {
    expect(await send(delivery({ notification_id: `failed ${index}` }))).toMatchObject({ ok: false });
  }
  const live = await gateways.open(answers(SENT));
  await register(live.url);
  expect(await send(delivery({ notification_id: "sent" }))).toMatchObject({ ok: true });
});

test("the same id is delivered once and answered alike", async () => {
  const live = await gateways.open(answers(SENT));
  await register(live.url);
  const first = await sender()(delivery());
  expect(await sender()(delivery())).toEqual(first);
  expect(live.asked).toHaveLength(1);
});

test("a cancel ends the wait at once and gives the place back (NTFY-05)", async () => {
  const abort = new AbortController();
  const failing = await gateways.open(() => {
    setImmediate(() => abort.abort(new TurnAborted("cancel")));
    return { status: 503, body: "{}" };
  });
  await register(failing.url);
  await expect(sender({ first_wait_ms: 60_000 })(delivery({ signal: abort.signal }))).rejects.toThrow("cancelled");
  expect(await kept.store.notifications.get("notification_1")).toMatchObject({ state: "failed" });
});

test("a stop of the server leaves the notification open, and the next start delivers it under its id", async () => {
  const abort = new AbortController();
  const hanging = await gateways.open(() => {
    abort.abort(new TurnAborted("shutdown"));
    return new Promise(() => {});
  });
  await register(hanging.url);
  await expect(sender()(delivery({ signal: abort.signal }))).rejects.toThrow("stopping");
  expect(await kept.store.notifications.get("notification_1")).toMatchObject({ state: "sending" });
  const live = await gateways.open(answers(SENT));
  await beat("gateway 0", live.url, 0);
  expect(await sender()(delivery())).toMatchObject({ ok: true });
  expect(live.asked[0]?.body["notification_id"]).toBe("notification_1");
});

test("secrets do not leave, and the text still fits", async () => {
  const live = await gateways.open(answers(SENT));
  await register(live.url);
  await sender()(delivery({ message: `${"x".repeat(1993)}hunter2`, title: "hunter2" }));
  expect(live.asked[0]?.body).toMatchObject({ title: "[redacted]" });
  const message = String(live.asked[0]?.body["message"]);
  expect(message).toHaveLength(2000);
  expect(message).not.toContain("hunter2");
});
