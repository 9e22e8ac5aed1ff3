import { connect } from "node:net";
import { expect, test } from "vitest";
import type { KeptEvent } from "../protocol/event.ts";
import { bearer, createRig } from "./testing/rig.ts";
import { outline, readSse } from "./testing/sse_reader.ts";

const info = (message: string): KeptEvent => ({ type: "info", message });
const isInfo = (message: string) => (frame: { data: Record<string, unknown> }) => frame.data["message"] === message;

async function streamRig() {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const ws_id = await rig.workstream(anna);
  const url = `${await rig.listen()}/v1/api/workstreams/${ws_id}/events`;
  return {
    ...rig,
    anna,
    ws_id,
    url,
    open: (query = "", headers = {}) => readSse(url + query, { ...bearer(anna.token), ...headers }),
  };
}

test("a fresh reader is told the present, then what comes (REQ-SERVER-009)", async () => {
  const { engine, ws_id, open } = await streamRig();
  await engine.append(ws_id, info("before"));
  const reader = await open();
  expect(reader.status).toBe(200);
  expect(reader.headers.get("content-type")).toContain("text/event-stream");
  expect(reader.headers.get("x-content-type-options")).toBe("nosniff");
  await engine.append(ws_id, info("after"));
  const frames = await reader.until(isInfo("after"));
  expect(outline(frames)).toEqual(["connected", "state_change", "ws_state", "2:info"]);
  expect(frames[0]?.data).toMatchObject({ model_alias: "default", skip_permissions: false });
});

test("a reader that comes back gets every entry once, over several pages (SSE-03, REQ-SERVER-008)", async () => {
  const { engine, ws_id, open } = await streamRig();
  for (let number = 1; number <= 450; number += 1) await engine.append(ws_id, info(`${number}`));
  const reader = await open("", { "last-event-id": "20" });
  await engine.append(ws_id, info("live"));
  await reader.until(isInfo("live"));
  await reader.until((frame) => frame.data["type"] === "ws_state");
  const { frames } = reader;
  const ids = frames.filter((frame) => frame.id !== undefined).map((frame) => Number(frame.id));
  expect(ids).toEqual(Array.from({ length: 431 }, (_, index) => index + 21));
  expect(outline(frames)).not.toContain("connected");
  expect(outline(frames).filter((line) => line === "state_change")).toHaveLength(1);
});

test("the query serves where a client cannot set headers, and the header comes first", async () => {
  const { engine, ws_id, open } = await streamRig();
  for (const text of ["a", "b", "c"]) await engine.append(ws_id, info(text));
  const by_query = await open("?last_event_id=1");
  expect(outline(await by_query.until((frame) => frame.data["type"] === "ws_state"))).toEqual([
    "2:info",
    "3:info",
    "state_change",
    "ws_state",
  ]);
  const by_header = await open("?last_event_id=1", { "last-event-id": "2" });
  expect(outline(await by_header.until((frame) => frame.data["type"] === "ws_state"))[0]).toBe("3:info");
});

test.each(["garbage", "-1", "1.5", "99", "99999999999999999999"])(
  "an id that is none (%s) is answered by a resync (SSE-04)",
  async (id) => {
    const { engine, ws_id, open } = await streamRig();
    await engine.append(ws_id, info("a"));
    const reader = await open(`?last_event_id=${id}`);
    const frames = await reader.until((frame) => frame.data["type"] === "ws_state");
    expect(outline(frames)).toEqual(["resync", "connected", "state_change", "ws_state"]);
    expect(frames[0]?.data["cursor"]).toBe(1);
  },
);

test("entries that are written while the past is replayed come once and in order (SSE-03)", async () => {
  const { engine, ws_id, open } = await streamRig();
  await engine.append(ws_id, info("1"));
  // One entry is in the journal but not told yet when the reader comes; it is told while the present is read.
  const seq = await engine.keep(ws_id, info("2"));
  const untold = engine.bus.replayFrame({ ws_id, seq, at: "", event: info("2") });
  engine.onSnapshot = () => engine.bus.publish(untold);
  const reader = await open("?last_event_id=0");
  await engine.append(ws_id, info("3"));
  const frames = await reader.until(isInfo("3"));
  expect(outline(frames)).toEqual(["1:info", "2:info", "state_change", "ws_state", "3:info"]);
});

// REQ-SERVER-010
test("streamed text is neither lost nor doubled for who connects in the middle of it (SSE-03)", async () => {
  const { engine, ws_id, open } = await streamRig();
  engine.states.set(ws_id, "thinking");
  engine.stream(ws_id, "The quick ");
  engine.beforeSnapshot = () => engine.stream(ws_id, "brown ");
  engine.onSnapshot = () => engine.stream(ws_id, "fox ");
  const reader = await open();
  engine.stream(ws_id, "jumps");
  const frames = await reader.until((frame) => frame.data["text"] === "jumps");
  const text = frames.map(({ data }) => String(data["content"] ?? data["text"] ?? "")).join("");
  expect(text).toBe("The quick brown fox jumps");
  expect(frames.find((frame) => frame.data["type"] === "state_change")?.data["state"]).toBe("thinking");
});

test("what waits for a person is asked again, without moving the reader's place", async () => {
  const { engine, ws_id, open } = await streamRig();
  const seq = await engine.append(ws_id, { type: "approve_request", cycle_id: "c1", items: [] });
  await engine.append(ws_id, info("later"));
  engine.pending.set(ws_id, [seq]);
  const reader = await open();
  const frames = await reader.until((frame) => frame.data["type"] === "ws_state");
  expect(outline(frames)).toEqual(["connected", "approve_request", "state_change", "ws_state"]);
  expect(frames[1]?.data["cycle_id"]).toBe("c1");
});

test("what is said to one person is on no other person's stream", async () => {
  const { engine, ws_id, anna, open, person, url, store } = await streamRig();
  const otto = await person("otto");
  await store.workstreams.invite(ws_id, otto.user_id);
  const readers = [await open(), await readSse(url, bearer(otto.token))];
  engine.bus.publishTo(anna.user_id, ws_id, { type: "info", message: "for anna" });
  await engine.append(ws_id, info("for all"));
  const told = await Promise.all(readers.map(async (reader) => outline(await reader.until(isInfo("for all")))));
  expect(told).toEqual([
    ["connected", "state_change", "ws_state", "info", "1:info"],
    ["connected", "state_change", "ws_state", "1:info"],
  ]);
});

test("two readers each see every event (SSE-01)", async () => {
  const { engine, ws_id, open } = await streamRig();
  const readers = await Promise.all([open(), open()]);
  for (let number = 1; number <= 30; number += 1) await engine.append(ws_id, info(`${number}`));
  for (const reader of readers) {
    const frames = await reader.until(isInfo("30"));
    expect(frames.filter((frame) => frame.id !== undefined)).toHaveLength(30);
  }
});

test("text with line breaks of every kind stays one event (SSE-07)", async () => {
  const { engine, ws_id, open } = await streamRig();
  const reader = await open();
  const text = "a\r\nb\nc\u2028d\u2029e\u0085f";
  engine.stream(ws_id, text);
  const frames = await reader.until((frame) => frame.data["type"] === "content");
  expect(frames.at(-1)?.data["text"]).toBe(text);
});

test("a reader that takes nothing is cut off, and the others go on (SSE-05, REQ-SERVER-011)", async () => {
  const { engine, ws_id, open, anna, url } = await streamRig();
  const { port, pathname } = new URL(url);
  const slow = connect(Number(port), "127.0.0.1");
  slow.write(`GET ${pathname} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${anna.token}\r\n\r\n`);
  await new Promise((resolve) => slow.once("data", resolve));
  slow.pause();
  const cut = new Promise((resolve) => slow.once("close", resolve));
  const good = await open();
  const large = "x".repeat(20_000);
  for (let batch = 0; batch < 400; batch += 1) {
    for (let number = 0; number < 10; number += 1) engine.stream(ws_id, large);
    await new Promise((resolve) => setImmediate(resolve));
  }
  slow.resume();
  slow.on("error", () => {});
  await cut;
  await engine.append(ws_id, info("end"));
  const frames = await good.until(isInfo("end"));
  expect(frames.filter((frame) => frame.data["type"] === "content")).toHaveLength(4000);
});

test("an unknown workstream is a 404 at once (SSE-09)", async () => {
  const { url, anna, ws_id } = await streamRig();
  const reply = await fetch(url.replace(ws_id, "0".repeat(32)), { headers: bearer(anna.token) });
  expect(reply.status).toBe(404);
  expect(await reply.json()).toMatchObject({ error: "Unknown workstream" });
});

test("a token in the address opens nothing and reaches no log (AUTH-08)", async () => {
  const { url, anna, log } = await streamRig();
  expect((await fetch(`${url}?token=${anna.token}`)).status).toBe(401);
  expect(log.join("")).not.toContain(anna.token);
});

test("open streams do not hold up a stop (SSE-11, REQ-SERVER-012)", async () => {
  const { app, open } = await streamRig();
  const readers = await Promise.all(Array.from({ length: 10 }, () => open()));
  const started = performance.now();
  await app.close();
  await Promise.all(readers.map((reader) => reader.ended));
  expect(performance.now() - started).toBeLessThan(2000);
});

test("a stream ends within seconds when its token is revoked or its person is no more, and others go on (AUTH-07)", async () => {
  const { engine, store, ws_id, url, open, person } = await streamRig();
  const [otto, gone] = [await person("otto"), await person("gone")];
  for (const { user_id } of [otto, gone]) await store.workstreams.invite(ws_id, user_id);
  const stays = await open();
  const cut = [await readSse(url, bearer(otto.token)), await readSse(url, bearer(gone.token))];
  await store.users.revokeToken(otto.token_id, new Date().toISOString());
  await store.users.remove(gone.user_id);
  await Promise.all(cut.map((reader) => reader.ended));
  await engine.append(ws_id, info("still here"));
  expect(outline(await stays.until(isInfo("still here")))).toContain("1:info");
}, 20_000);
