import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions, type watch } from "../../test/support/engine_rig.ts";
import { echo, recorder } from "../../test/support/little_tools.ts";
import { calls, says, type Script } from "../../test/support/scripted_provider.ts";
import type { Frame } from "../contracts/engine.ts";
import type { KeptEvent } from "../protocol/event.ts";
import { taskTool } from "../tools/task.ts";
import { builtIn, castProvider, type Roles } from "./testing/cast.ts";

const ADA = { user_id: "u1", name: "Ada" };
const task = builtIn(taskTool());
const rigs: { close(): Promise<void> }[] = [];

type Watched = ReturnType<typeof watch>;

async function start(roles: Roles, options: EngineRigOptions = {}) {
  const rig = await startEngine({ tools: [task, echo], provider: castProvider(roles), ...options });
  rigs.push(rig);
  return rig;
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

/** One call of `task` for each prompt. */
function tasks(...prompts: string[]): Script {
  return calls(...prompts.map((prompt, index) => ({ id: `call_${index}`, name: "task", arguments: { prompt } })));
}

const UNASKED = { auto_approve_tools: ["task"] };

function decision(cycle_id: string | null, approved = true) {
  return {
    approved,
    cycle_id,
    feedback: null,
    always: false,
    scope: null,
    call_id: null,
    calls: null,
    decided_by: ADA,
  };
}

/** Kept events of sub-agents as the parent's stream shows them. */
function childFrames(ws: Watched): (Frame & { event: KeptEvent })[] {
  return ws.frames.filter((frame): frame is Frame & { event: KeptEvent } => frame.child !== null);
}

function childEvents<T extends KeptEvent["type"]>(ws: Watched, type: T): Extract<KeptEvent, { type: T }>[] {
  return childFrames(ws).flatMap(({ event }) =>
    event.type === type ? [event as Extract<KeptEvent, { type: T }>] : [],
  );
}

function resultsOf(ws: Watched): string[] {
  return ws.kept().flatMap((event) => (event.type === "tool_result" ? [event.output] : []));
}

/** A model that says nothing until its call is given up, and tells when it was asked. */
function silent(asked: () => void): Script {
  return async function* (_request, signal) {
    asked();
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    yield* says("");
  };
}

test("a sub-agent's report is the result, and its steps show on its parent's stream (REQ-ENGINE-017)", async () => {
  const { open, provider } = await start({
    go: [tasks("Count the files."), says("There are three.")],
    Count: [calls({ name: "echo", arguments: { text: "3" } }), says("Three files.")],
  });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ output: "Three files.", is_error: false, effect: "done" });
  expect(childFrames(ws).every((frame) => frame.ws_id === ws.ws_id && frame.seq === null)).toBe(true);
  expect(childFrames(ws)[0]?.child).toEqual({
    ws_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    parent_call_id: "call_0",
  });
  expect(childEvents(ws, "tool_result")).toMatchObject([{ output: "3" }]);
  // Whoever follows the parent alone must not take the sub-agent's end for its own.
  expect(ws.frames.filter(({ event }) => event.type === "turn_ended")).toHaveLength(1);
  expect(ws.frames.filter(({ event }) => event.type === "state_change" && event.state === "idle")).toHaveLength(1);
  const child_request = provider.requests[1];
  expect(child_request?.messages).toHaveLength(1);
  expect(child_request?.tools.map((tool) => tool.name)).toEqual(["echo"]);
});

test("a sub-agent that asks for another is refused and goes on by itself (TC-12, REQ-ENGINE-018)", async () => {
  const { open, store } = await start({
    go: [tasks("Outer"), says("Done.")],
    Outer: [tasks("Inner"), says("Did it myself.")],
  });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(childEvents(ws, "tool_result")).toMatchObject([
    { is_error: true, output: expect.stringContaining("cannot use task") },
  ]);
  expect(resultsOf(ws)).toEqual(["Did it myself."]);
  const [child] = await store.workstreams.children(ws.ws_id);
  expect(await store.workstreams.children(child?.ws_id ?? "")).toEqual([]);
});

test("ids that every model repeats are unique on the stream of all (TC-13)", async () => {
  const again = calls({ id: "call_0", name: "echo", arguments: { text: "x" } });
  const { open } = await start({
    go: [tasks("One", "Two"), says("Done.")],
    One: [again, again, says("1")],
    Two: [again, again, says("2")],
  });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  const ids = ws.frames.flatMap(({ event }) => (event.type === "tool_result" ? [event.call_id] : []));
  expect(ids).toHaveLength(6);
  expect(new Set(ids).size).toBe(6);
});

test("what a sub-agent's tools and the sub-agent itself answer is clipped (TC-15)", async () => {
  const flood: typeof echo = {
    definition: echo.definition,
    tool: {
      ...echo.tool,
      execute: () => Promise.resolve({ output: "x".repeat(10_000_000), is_error: false, effect: "none" }),
    },
  };
  const roles = {
    go: [tasks("Read"), says("Done.")],
    Read: [calls({ name: "echo", arguments: { text: "" } }), says("y".repeat(400_000))],
  };
  const { open } = await start(roles, { tools: [task, flood] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(childEvents(ws, "tool_result")[0]?.output.length).toBeLessThan(270_000);
  expect(resultsOf(ws)[0]?.length).toBeLessThan(270_000);
});

test("two tasks that ask have a card each, and each press settles its own (APPR-15)", async () => {
  const done: string[] = [];
  const roles = {
    go: [tasks("One", "Two"), says("Done.")],
    One: [calls({ name: "record", arguments: { text: "one" } }), says("One is done.")],
    Two: [calls({ name: "record", arguments: { text: "two" } }), says("Two was not allowed.")],
  };
  const { engine, open } = await start(roles, { tools: [task, recorder(done)] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.until(() => childEvents(ws, "approve_request").length === 2);
  const [first, second] = childEvents(ws, "approve_request").toSorted(
    (left, right) => left.items[0]?.header.localeCompare(right.items[0]?.header ?? "") ?? 0,
  );
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("attention");
  expect((await engine.snapshot(ws.ws_id))?.pending).toHaveLength(2);
  expect(await engine.approve(ws.ws_id, decision(second?.cycle_id ?? "", false))).toMatchObject({ ok: true });
  await ws.until(() => resultsOf(ws).length === 1);
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("attention");
  expect(done).toEqual([]);
  expect(await engine.approve(ws.ws_id, decision(first?.cycle_id ?? ""))).toMatchObject({ ok: true });
  await ws.turnEnded();
  expect(done).toEqual(["one"]);
  expect(resultsOf(ws).toSorted()).toEqual(["One is done.", "Two was not allowed."]);
});

test("a call of a sub-agent is answered by its id alone, and one that names nothing answers who has asked longest", async () => {
  const done: string[] = [];
  const roles = {
    go: [tasks("One", "Two"), says("Done.")],
    One: [calls({ name: "record", arguments: { text: "one" } }), says("1")],
    Two: [calls({ name: "record", arguments: { text: "two" } }), says("2")],
  };
  const { engine, open } = await start(roles, { tools: [task, recorder(done)] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.until(() => childEvents(ws, "approve_request").length === 2);
  const [older, newer] = childEvents(ws, "approve_request");
  const call_id = newer?.items[0]?.call_id ?? "";
  expect(await engine.approve(ws.ws_id, { ...decision(null), call_id })).toEqual({
    ok: true,
    cycle_id: newer?.cycle_id,
  });
  expect(await engine.approve(ws.ws_id, decision(null))).toEqual({ ok: true, cycle_id: older?.cycle_id });
  await ws.turnEnded();
  expect(done.toSorted()).toEqual(["one", "two"]);
});

test("a sub-agent at its limit is asked for what it has, without tools (REQ-ENGINE-019)", async () => {
  const again = calls({ name: "echo", arguments: { text: "x" } });
  const roles = { go: [tasks("Loop"), says("Done.")], Loop: [again, again, says("As far as I came.")] };
  const { open, provider } = await start(roles, { settings: { agent_max_turns: 2 } });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(resultsOf(ws)).toEqual(["As far as I came."]);
  const last = provider.requests.at(-2);
  expect(last?.tools).toEqual([]);
  expect(last?.messages.at(-1)).toMatchObject({
    role: "user",
    content: [{ text: expect.stringContaining("2 model calls") }],
  });
});

test("a sub-agent that asks for tools even then is stopped, and its work is told", async () => {
  const again = calls({ name: "echo", arguments: { text: "x" } });
  const roles = { go: [tasks("Loop"), says("Done.")], Loop: [again, again, again, again] };
  const { open } = await start(roles, { settings: { agent_max_turns: 2 } });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ is_error: true, output: expect.stringContaining("echo × 2") });
});

// REQ-ENGINE-020
test("a cancel reaches the sub-agent's running tool, and its partial work is told (CTX-15)", async () => {
  let stopped = false;
  const inside = Promise.withResolvers<void>();
  const listening = recorder([], (_text, signal) => {
    inside.resolve();
    return new Promise((resolve) => signal.addEventListener("abort", () => ((stopped = true), resolve())));
  });
  const first = { type: "content" as const, text: "First I look around." };
  const roles = {
    go: [tasks("Work")],
    Work: [[first, ...(calls({ name: "record", arguments: { text: "x" } }) as [])]],
  };
  const { engine, open, store } = await start(roles, { tools: [task, listening] });
  const ws = await open({ auto_approve: true });
  await ws.say("go");
  await inside.promise;
  const before = performance.now();
  expect(await engine.cancel(ws.ws_id, false)).toMatchObject({ status: "ok" });
  expect(performance.now() - before).toBeLessThan(2000);
  expect(stopped).toBe(true);
  expect(ws.one("tool_result").output).toMatch(
    /cancelled before it had finished[\s\S]*record × 1[\s\S]*First I look around/,
  );
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "cancelled" });
  const [child] = await store.workstreams.children(ws.ws_id);
  expect(child).toMatchObject({ turn_open: false, state: "idle" });
});

test("a cancel settles the card of a sub-agent (CTX-15, APPR-14)", async () => {
  const roles = { go: [tasks("Work")], Work: [calls({ name: "record", arguments: { text: "x" } })] };
  const done: string[] = [];
  const { engine, open } = await start(roles, { tools: [task, recorder(done)] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.until(() => childEvents(ws, "approve_request").length === 1);
  await engine.cancel(ws.ws_id, false);
  expect(childEvents(ws, "approval_resolved")).toMatchObject([{ approved: false, reason: "cancelled" }]);
  expect(ws.one("tool_result").output).toContain("cancelled");
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("idle");
  expect(done).toEqual([]);
});

test("a sub-agent that is cancelled by itself does not hold its parent", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { engine, open, store } = await start({ go: [tasks("Work"), says("Then not.")], Work: [silent(resolve)] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await asked;
  const [child] = await store.workstreams.children(ws.ws_id);
  await engine.cancel(child?.ws_id ?? "", false);
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ is_error: true, output: expect.stringContaining("cancelled") });
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "done" });
});

test("a sub-agent's failure is told with its reason", async () => {
  const failure = {
    code: "model_rejected" as const,
    message: "The model refused the request.",
    detail: "",
    retryable: false,
  };
  const echoed = calls({ name: "echo", arguments: { text: "x" } });
  const { open } = await start({ go: [tasks("Work"), says("I see.")], Work: [echoed, [{ type: "failed", failure }]] });
  const ws = await open(UNASKED);
  await ws.say("go");
  await ws.turnEnded();
  expect(ws.one("tool_result")).toMatchObject({ is_error: true, effect: "unknown" });
  expect(ws.one("tool_result").output).toMatch(/failed[\s\S]*The model refused the request[\s\S]*echo × 1/);
});

test("what a sub-agent uses counts for its person (REQ-ENGINE-021)", async () => {
  const { engine, open, store } = await start({ go: [tasks("Work"), says("Done.")], Work: [says("Report.")] });
  const created = await engine.create({ user_id: "u1", ...UNASKED });
  if (!created.ok) throw new Error(created.error);
  const { watch: watching } = await import("../../test/support/engine_rig.ts");
  const ws = watching(engine, created.workstream.ws_id);
  await ws.say("go");
  await ws.turnEnded();
  expect(await store.usage.total({ user_id: "u1", since: "" })).toMatchObject({
    prompt_tokens: 300,
    completion_tokens: 30,
  });
  void open;
});

// REQ-CRASH-006
test("a sub-agent that waits for a person outlives a restart, and its parent gets its report", async () => {
  const done: string[] = [];
  const roles: Roles = {
    go: [tasks("Work"), says("Done.")],
    Work: [calls({ name: "record", arguments: { text: "x" } }), says("Report.")],
  };
  const provider = castProvider(roles);
  const first = await startEngine({ tools: [task, recorder(done)], provider });
  const before = await first.open(UNASKED);
  await before.say("go");
  await before.until(() => childEvents(before, "approve_request").length === 1);
  await first.crash();

  const second = await start(roles, { folder: first.folder, tools: [task, recorder(done)], provider });
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  await ws.until(() => ws.frames.some(({ event }) => event.type === "state_change" && event.state === "attention"));
  const [pending] = (await second.engine.snapshot(ws.ws_id))?.pending ?? [];
  const cycle_id = pending?.event.type === "approve_request" ? pending.event.cycle_id : "";
  expect(await second.engine.approve(ws.ws_id, decision(cycle_id))).toMatchObject({ ok: true });
  await ws.turnEnded();
  expect(done).toEqual(["x"]);
  expect(resultsOf(ws)).toEqual(["Report."]);
  const children = await second.store.workstreams.children(ws.ws_id);
  expect(children).toHaveLength(1);
  const entries = await second.store.journal.read(children[0]?.ws_id ?? "", 0);
  expect(entries.filter(({ event }) => event.type === "user_turn")).toHaveLength(1);
});

test("a stop leaves a thinking sub-agent to the next start, which ends its work", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const roles: Roles = { go: [tasks("Work"), says("Done.")], Work: [silent(resolve), says("Report.")] };
  const provider = castProvider(roles);
  const first = await startEngine({ tools: [task], provider });
  const before = await first.open(UNASKED);
  await before.say("go");
  await asked;
  await first.engine.stop(50);
  await first.store.close();

  const second = await start(roles, { folder: first.folder, tools: [task], provider });
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  await ws.turnEnded();
  expect(resultsOf(ws)).toEqual(["Report."]);
});

test("a report that was given before a crash is taken, and the work is not done again", async () => {
  const roles: Roles = {
    go: [tasks("Work", "Wait"), says("Done.")],
    Work: [says("Report.")],
    Wait: [silent(() => {}), says("Waited.")],
  };
  const provider = castProvider(roles);
  const first = await startEngine({ tools: [task], provider });
  const before = await first.open(UNASKED);
  await before.say("go");
  await before.until(() => resultsOf(before).length === 1);
  await first.crash();

  const second = await start(roles, { folder: first.folder, tools: [task], provider });
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  await ws.turnEnded();
  expect(resultsOf(ws)).toEqual(["Waited."]);
  expect(provider.requests.filter((request) => JSON.stringify(request.messages[0]).includes("Work"))).toHaveLength(1);
});
