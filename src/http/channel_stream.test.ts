import { expect, test } from "vitest";
import type { KeptEvent } from "../protocol/event.ts";
import { bearer, createRig, type Rig } from "./testing/rig.ts";
import { type Received, readSse } from "./testing/sse_reader.ts";

const info = (message: string): KeptEvent => ({ type: "info", message });
const says = (message: string) => (frame: Received) =>
  (frame.data["event"] as { message?: string } | undefined)?.message === message;
const isControl = (name: string) => (frame: Received) => frame.data["control"] === name;

/** One line a frame: where it belongs, its seq and what it says. */
function lines(frames: readonly Received[]): string[] {
  return frames.map(({ data }) => {
    if (data["control"] !== undefined) return String(data["control"]);
    const event = data["event"] as { type: string; message?: string };
    return [data["channel_id"], data["seq"], event.message ?? event.type]
      .filter((part) => part !== undefined)
      .join(" ");
  });
}

async function channelRig() {
  const rig = await createRig();
  const anna = await rig.person("anna");
  const headers = bearer(await rig.serviceToken());
  const url = `${await rig.listen()}/v1/api/channels/discord/events`;
  return { ...rig, anna, headers, open: () => readSse(url, headers) };
}

async function showIn(
  rig: Pick<Rig, "app">,
  headers: Record<string, string>,
  ws_id: string,
  channel_id: string,
  more = {},
) {
  const payload = { channel_id, ws_id, kind: "thread", ...more };
  const answer = await rig.app.inject({ method: "POST", url: "/v1/api/channels/discord/routes", headers, payload });
  expect(answer.statusCode).toBe(200);
}

// REQ-GATEWAY-002
test("a gateway gets what each place has missed, then that it has caught up, then what comes", async () => {
  const rig = await channelRig();
  const [one, two] = [await rig.workstream(rig.anna), await rig.workstream(rig.anna)];
  await showIn(rig, rig.headers, one, "t1");
  await showIn(rig, rig.headers, two, "t2");
  for (const text of ["a", "b", "c"]) await rig.engine.append(one, info(text));
  await rig.engine.append(two, info("z"));
  const cursor = { method: "POST", headers: rig.headers, payload: { cursor_seq: 1 } } as const;
  await rig.app.inject({ ...cursor, url: "/v1/api/channels/discord/routes/t1/cursor" });
  const reader = await rig.open();
  await reader.until(isControl("caught_up"));
  await rig.engine.append(one, info("d"));
  const frames = await reader.until(says("d"));
  const told = lines(frames);
  expect(told.slice(0, 5)).toEqual(["hello", "t1 2 b", "t1 3 c", "t2 1 z", "caught_up"]);
  expect(told.filter((line) => /\d [a-z]$/.test(line))).toEqual(["t1 2 b", "t1 3 c", "t2 1 z", "t1 4 d"]);
  expect(frames[1]?.data).toMatchObject({ ws_id: one, channel_id: "t1", seq: 2, at: expect.any(String) });
});

test("a gateway that was away learns how the questions of sub-agents ended, before it learns what they came to", async () => {
  const rig = await channelRig();
  const ws_id = await rig.workstream(rig.anna);
  const own = await rig.store.workstreams.get(ws_id);
  if (own === null) throw new Error("There is no workstream.");
  const parent = { parent_ws_id: ws_id, parent_call_id: "call_1", kind: "task" } as const;
  await rig.store.workstreams.create({ ...own, ...parent, ws_id: "c".repeat(32), last_seq: 0 });
  const cycle = { cycle_id: "cycle_1", call_ids: ["a"], calls: { a: true }, approved: true, feedback: null };
  await rig.engine.append("c".repeat(32), info("a step that is only shown live"));
  await rig.engine.append("c".repeat(32), { type: "approve_request", cycle_id: "cycle_1", items: [] });
  await rig.engine.append("c".repeat(32), {
    type: "approval_resolved",
    ...cycle,
    always: false,
    decided_by: null,
    reason: "person",
  });
  await rig.engine.append(ws_id, info("before"));
  const result = { call_id: "call_1", name: "task", output: "Done.", is_error: false, effect: "done" } as const;
  await rig.engine.append(ws_id, { type: "tool_result", ...result });
  await showIn(rig, rig.headers, ws_id, "t1");
  const reader = await rig.open();
  const frames = await reader.until(isControl("caught_up"));
  expect(lines(frames)).toEqual([
    "hello",
    "t1 1 before",
    "t1 approve_request",
    "t1 approval_resolved",
    "t1 2 tool_result",
    "caught_up",
  ]);
  expect(frames[3]?.data).toMatchObject({
    child_ws_id: "c".repeat(32),
    parent_call_id: "call_1",
    at: expect.any(String),
  });
});

test("a place made while the stream is open gets its past and its future, and nothing once it is gone", async () => {
  const rig = await channelRig();
  const reader = await rig.open();
  await reader.until(isControl("caught_up"));
  const ws_id = await rig.workstream(rig.anna);
  await rig.engine.append(ws_id, info("before"));
  await showIn(rig, rig.headers, ws_id, "t1");
  await reader.until(says("before"));
  await rig.engine.append(ws_id, info("during"));
  await reader.until(says("during"));
  await rig.app.inject({ method: "DELETE", url: "/v1/api/channels/discord/routes/t1", headers: rig.headers });
  await rig.engine.append(ws_id, info("after"));
  await showIn(rig, rig.headers, ws_id, "t2", { cursor_seq: 3 });
  await rig.engine.append(ws_id, info("elsewhere"));
  const told = lines(await reader.until(says("elsewhere")));
  expect(told.filter((line) => /^t\d \d/.test(line))).toEqual(["t1 1 before", "t1 2 during", "t2 4 elsewhere"]);
});

test("a workstream shown in a thread and in a DM comes to both; the DM begins where it joins", async () => {
  const rig = await channelRig();
  const ws_id = await rig.workstream(rig.anna);
  await showIn(rig, rig.headers, ws_id, "t1");
  await rig.engine.append(ws_id, info("old"));
  await showIn(rig, rig.headers, ws_id, "d1", { kind: "dm" });
  const reader = await rig.open();
  await reader.until(isControl("caught_up"));
  await rig.engine.append(ws_id, info("new"));
  const both = (frame: Received): boolean => says("new")(frame) && frame.data["channel_id"] === "d1";
  const told = lines(await reader.until(both)).filter((line) => /^[td]\d \d/.test(line));
  expect(told.toSorted()).toEqual(["d1 2 new", "t1 1 old", "t1 2 new"]);
});

test("a sub-agent's step comes to its parent's places with its own id", async () => {
  const rig = await channelRig();
  const ws_id = await rig.workstream(rig.anna);
  await showIn(rig, rig.headers, ws_id, "t1");
  const reader = await rig.open();
  await reader.until(isControl("caught_up"));
  rig.engine.bus.publish(rig.engine.bus.childFrame(ws_id, info("step"), { ws_id: "child", parent_call_id: "call_1" }));
  const frame = (await reader.until(says("step"))).at(-1);
  expect(frame?.data).toMatchObject({ ws_id, channel_id: "t1", child_ws_id: "child", parent_call_id: "call_1" });
  expect(frame?.data).not.toHaveProperty("seq");
});

test("a gateway that comes back in the middle of a turn is told its cards and its running text", async () => {
  const rig = await channelRig();
  const ws_id = await rig.workstream(rig.anna);
  await showIn(rig, rig.headers, ws_id, "t1");
  const event: KeptEvent = { type: "approve_request", cycle_id: "c1", items: [] };
  const entry = { ws_id, seq: 1, at: "2026-01-02T03:04:05.678Z", event };
  await rig.store.journal.commit({ ws_id, at: entry.at, entries: [entry], turn_open: true, state: "attention" });
  await rig.store.channels.moveCursor("discord", "t1", { cursor_seq: 1 });
  rig.engine.pending.set(ws_id, [1]);
  rig.engine.states.set(ws_id, "attention");
  rig.engine.running.set(ws_id, { content: "so far", reasoning: "", model_call_id: "1.2" });
  const reader = await rig.open();
  const frames = await reader.until(
    (frame) => (frame.data["event"] as { type?: string })?.type === "in_progress_snapshot",
  );
  expect(lines(frames)).toEqual([
    "hello",
    "caught_up",
    "t1 1 approve_request",
    "t1 state_change",
    "t1 ws_state",
    "t1 in_progress_snapshot",
  ]);
});

test("names and ends come to the places that show a workstream", async () => {
  const rig = await channelRig();
  const ws_id = await rig.workstream(rig.anna);
  await showIn(rig, rig.headers, ws_id, "t1");
  const reader = await rig.open();
  await reader.until(isControl("caught_up"));
  rig.engine.bus.publishGlobal({ type: "ws_rename", ws_id, name: "New name" });
  const frame = (await reader.until((one) => (one.data["event"] as { type?: string })?.type === "ws_rename")).at(-1);
  expect(frame?.data).toEqual({ ws_id, channel_id: "t1", event: { type: "ws_rename", ws_id, name: "New name" } });
});

test("a title that was given while no gateway listened comes with the next connection", async () => {
  const rig = await channelRig();
  const ws_id = await rig.workstream(rig.anna);
  await showIn(rig, rig.headers, ws_id, "t1");
  const at = new Date().toISOString();
  await rig.store.journal.commit({ ws_id, at, entries: [{ ws_id, seq: 1, at, event: info("a") }] });
  const cursor = { method: "POST", headers: rig.headers, payload: { cursor_seq: 1 } } as const;
  await rig.app.inject({ ...cursor, url: "/v1/api/channels/discord/routes/t1/cursor" });
  await rig.store.workstreams.update(ws_id, { title: "Late title" });
  const reader = await rig.open();
  const frame = (await reader.until((one) => (one.data["event"] as { type?: string })?.type === "ws_rename")).at(-1);
  expect(frame?.data).toEqual({ ws_id, channel_id: "t1", event: { type: "ws_rename", ws_id, name: "Late title" } });
});

test("the global stream tells a person of their own workstreams alone (AUTH-04, REQ-SERVER-013)", async () => {
  const rig = await channelRig();
  const otto = await rig.person("otto");
  const reader = await readSse(`${rig.app.listeningOrigin}/v1/api/events/global`, bearer(rig.anna.token));
  const theirs = await rig.workstream(otto);
  const own = await rig.workstream(rig.anna);
  rig.engine.bus.publishGlobal({ type: "ws_state", ws_id: theirs, state: "running" });
  rig.engine.bus.publishGlobal({ type: "ws_state", ws_id: own, state: "running" });
  const frames = await reader.until((frame) => frame.data["type"] === "ws_state");
  expect(frames.map(({ data }) => [data["type"], data["ws_id"]])).toEqual([
    ["ws_created", own],
    ["ws_state", own],
  ]);
  await rig.store.workstreams.invite(theirs, rig.anna.user_id);
});
