import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo, recorder } from "../../test/support/little_tools.ts";
import { calls, says, ScriptedProvider } from "../../test/support/scripted_provider.ts";

const ADA = { user_id: "u1", name: "Ada" };
const rigs: Awaited<ReturnType<typeof startEngine>>[] = [];

async function start(options: EngineRigOptions = {}) {
  const rig = await startEngine(options);
  rigs.push(rig);
  return rig;
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

function yes(cycle_id: string | null = null) {
  const nothing = { feedback: null, always: false, scope: null, call_id: null, calls: null };
  return { ...nothing, approved: true, cycle_id, decided_by: ADA };
}

test("a message is answered, and every step is an entry (REQ-ENGINE-001)", async () => {
  const { engine, open, provider, store } = await start();
  provider.script(says("Hello, Ada."));
  const ws = await open();
  expect(await ws.say("hi", "m1")).toMatchObject({ status: "ok" });
  await ws.turnEnded();
  expect(ws.types()).toEqual(["user_turn", "assistant", "status", "turn_ended"]);
  expect(ws.one("assistant").content).toBe("Hello, Ada.");
  const stored = await store.journal.read(ws.ws_id, 0);
  expect(stored.map((entry) => entry.seq)).toEqual([1, 2, 3, 4]);
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("idle");
});

test("the same client_send_id is accepted once and answered alike (REQ-ENGINE-002)", async () => {
  const { open, provider } = await start();
  provider.script(says("one"));
  const ws = await open();
  const first = await ws.say("hi", "m1");
  await ws.turnEnded();
  expect(await ws.say("hi", "m1")).toEqual(first);
  expect(provider.requests).toHaveLength(1);
});

test("a call without side effects runs unasked and its result reaches the model (REQ-ENGINE-003)", async () => {
  const { open, provider } = await start({ tools: [echo] });
  provider.script(calls({ name: "echo", arguments: { text: "pong" } }), says("It said pong."));
  const ws = await open();
  await ws.say("ping");
  await ws.turnEnded();
  expect(ws.types()).toEqual([
    "user_turn",
    "assistant",
    "tool_info",
    "tool_started",
    "tool_result",
    "assistant",
    "status",
    "turn_ended",
  ]);
  expect(provider.requests[1]?.messages.at(-1)).toMatchObject({
    role: "tool",
    content: [{ type: "text", text: "pong" }],
  });
});

test("a call with side effects waits for a yes, and runs once (REQ-ENGINE-004)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done)] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Done."));
  const ws = await open();
  await ws.say("do x");
  await ws.until(() => ws.types().includes("approve_request"));
  expect(done).toEqual([]);
  const { cycle_id } = ws.one("approve_request");
  expect(await engine.approve(ws.ws_id, yes(cycle_id))).toEqual({ ok: true, cycle_id });
  await ws.turnEnded();
  expect(done).toEqual(["x"]);
  expect(await engine.approve(ws.ws_id, yes(cycle_id))).toMatchObject({
    ok: false,
    reason: "settled",
    approved: true,
    decided_by: ADA,
  });
});

test("a no reaches the model with its reason and nothing runs (REQ-ENGINE-005)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done)] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Understood."));
  const ws = await open();
  await ws.say("do x");
  await ws.until(() => ws.types().includes("approve_request"));
  await engine.approve(ws.ws_id, { ...yes(), approved: false, feedback: "use y instead" });
  await ws.turnEnded();
  expect(done).toEqual([]);
  expect(ws.one("tool_result")).toMatchObject({ denied: true, effect: "none" });
  expect(ws.one("tool_result").output).toContain("use y instead");
});

test("nothing pending cannot be approved, and pre-approves nothing (APPR-12, REQ-ENGINE-008)", async () => {
  const { engine, open } = await start();
  const ws = await open();
  expect(await engine.approve(ws.ws_id, yes())).toMatchObject({ ok: false, reason: "nothing_pending" });
  expect(ws.kept()).toEqual([]);
});

// REQ-ENGINE-006
test("in a mixed batch each call gets its own decision and one result, in the order asked (APPR-09, TC-10)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [echo, recorder(done)] });
  provider.script(
    calls(
      { id: "a", name: "record", arguments: { text: "a" } },
      { id: "b", name: "echo", arguments: { text: "b" } },
      { id: "c", name: "record", arguments: { text: "c" } },
      { id: "d", name: "nonsense", arguments: {} },
    ),
    says("ok"),
  );
  const ws = await open();
  await ws.say("go");
  await ws.until(() => ws.types().includes("approve_request"));
  await engine.approve(ws.ws_id, { ...yes(), calls: { a: false }, approved: true });
  await ws.turnEnded();
  expect(done).toEqual(["c"]);
  const results = provider.requests[1]?.messages.filter((message) => message.role === "tool") ?? [];
  expect(results.map((message) => message.role === "tool" && message.call_id)).toEqual(["a", "b", "c", "d"]);
  expect(results[3]).toMatchObject({ is_error: true });
});

test("call by call decisions: the turn goes on when each asked call is decided (REQ-ENGINE-007)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done)] });
  provider.script(
    calls({ id: "a", name: "record", arguments: { text: "a" } }, { id: "b", name: "record", arguments: { text: "b" } }),
    says("ok"),
  );
  const ws = await open();
  await ws.say("go");
  await ws.until(() => ws.types().includes("approve_request"));
  await engine.approve(ws.ws_id, { ...yes(), call_id: "b" });
  expect(await engine.approve(ws.ws_id, { ...yes(), call_id: "b" })).toMatchObject({
    reason: "settled",
    decided_at: expect.stringMatching(/^\d{4}-/),
  });
  expect(done).toEqual([]);
  await engine.approve(ws.ws_id, { ...yes(), call_id: "a", approved: false });
  await ws.turnEnded();
  expect(done).toEqual(["b"]);
});

test("a model that asks the same three times over is told, but not when something changed in between (TC-11)", async () => {
  const { engine, open, provider } = await start({ tools: [echo, recorder([])] });
  const look = calls({ name: "echo", arguments: { text: "same" } });
  const change = calls({ name: "record", arguments: { text: "x" } });
  provider.script(look, look, look, look, change, look, look, says("I give up."));
  const ws = await open();
  await ws.say("go");
  await ws.until(() => ws.types().includes("approve_request"));
  await engine.approve(ws.ws_id, yes());
  await ws.turnEnded();
  const results = ws.kept().flatMap((event) => (event.type === "tool_result" ? [event.output] : []));
  expect(results.map((output) => output.includes("3 times in a row"))).toEqual([
    false,
    false,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("a padded name is the tool's, and a name in other letters is told which there are (TC-07)", async () => {
  const { open, provider } = await start({ tools: [echo] });
  const named = (name: string): ReturnType<typeof calls> => calls({ name, arguments: { text: "hi" } });
  provider.script(named(" echo\n"), named("Echo"), says("Done."));
  const ws = await open();
  await ws.say("go");
  await ws.turnEnded();
  const results = ws.kept().flatMap((event) => (event.type === "tool_result" ? [event] : []));
  expect(results[0]).toMatchObject({ name: "echo", is_error: false });
  expect(results[1]?.is_error).toBe(true);
  expect(results[1]?.output).toContain("There is no tool named Echo. Did you mean echo?");
});

// REQ-ENGINE-009
test("a message during a turn is queued and joins at the next tool boundary, after all results (PROV-23)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done)] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Both done."));
  const ws = await open();
  await ws.say("first");
  await ws.until(() => ws.types().includes("approve_request"));
  expect(await ws.say("second")).toMatchObject({ status: "queued" });
  await engine.approve(ws.ws_id, yes());
  await ws.turnEnded();
  const roles = provider.requests[1]?.messages.map((message) => message.role);
  expect(roles).toEqual(["user", "assistant", "tool", "user"]);
});

test("a queued message can be taken back, once (REQ-ENGINE-010)", async () => {
  const { engine, open, provider } = await start({ tools: [recorder([])] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }));
  const ws = await open();
  await ws.say("first");
  await ws.until(() => ws.types().includes("approve_request"));
  const answer = await ws.say("second");
  const msg_id = "msg_id" in answer ? answer.msg_id : "";
  expect(await engine.withdraw(ws.ws_id, msg_id)).toBe("withdrawn");
  await engine.approve(ws.ws_id, yes());
  await ws.turnEnded();
  expect(provider.requests[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
});

test("a message that waits when the turn is cancelled is answered next (DEVT-09)", async () => {
  const { engine, open, provider } = await start({ tools: [recorder([])] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("To the second."));
  const ws = await open();
  await ws.say("first");
  await ws.until(() => ws.types().includes("approve_request"));
  expect(await ws.say("second")).toMatchObject({ status: "queued" });
  expect(await engine.cancel(ws.ws_id, false)).toEqual({ status: "ok", dropped: 0 });
  await ws.turnEnded(2);
  expect(ws.one("assistant").tool_calls).toHaveLength(1);
  expect(ws.kept().flatMap((event) => (event.type === "assistant" ? [event.content] : []))).toContain("To the second.");
});

// REQ-ENGINE-011
test("cancel while a card is pending settles it, runs nothing and ends the turn (APPR-14)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done)] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Fine."));
  const ws = await open();
  await ws.say("go");
  await ws.until(() => ws.types().includes("approve_request"));
  expect(await engine.cancel(ws.ws_id, false)).toEqual({ status: "ok", dropped: 0 });
  expect(ws.one("approval_resolved")).toMatchObject({ approved: false, reason: "cancelled" });
  expect(ws.kept().at(-1)).toMatchObject({ type: "turn_ended", outcome: "cancelled" });
  expect(done).toEqual([]);
  await ws.say("still there?");
  await ws.turnEnded(2);
  expect(provider.requests[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "user"]);
});

// REQ-ENGINE-012
test("cancel during a running call ends within two seconds even if the tool does not listen", async () => {
  const { engine, open, provider } = await start({ tools: [recorder([], () => new Promise(() => {}))] });
  provider.script(calls({ name: "record", arguments: { text: "x" } }));
  const ws = await open({ auto_approve: true });
  await ws.say("go");
  await ws.until(() => ws.types().includes("tool_started"));
  const before = Date.now();
  await engine.cancel(ws.ws_id, false);
  expect(Date.now() - before).toBeLessThan(2000);
  expect(ws.one("tool_result")).toMatchObject({ effect: "unknown", is_error: false });
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "cancelled" });
});

test("a pending approval outlives a restart: the same cycle runs the call, once (APPR-07, DEVT-04)", async () => {
  const done: string[] = [];
  const provider = new ScriptedProvider();
  const first = await start({ tools: [recorder(done)], provider });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Done."));
  const before = await first.open();
  await before.say("go");
  await before.until(() => before.types().includes("approve_request"));
  const { cycle_id } = before.one("approve_request");
  await first.crash();

  const second = await startEngine({ folder: first.folder, tools: [recorder(done)], provider });
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  expect(await second.engine.approve(ws.ws_id, yes(cycle_id))).toEqual({ ok: true, cycle_id });
  await ws.turnEnded();
  expect(done).toEqual(["x"]);
  expect(await second.engine.approve(ws.ws_id, yes(cycle_id))).toMatchObject({ reason: "settled" });
  await second.crash();
});

// REQ-CRASH-002
test("a call that had started when the server stopped is not run again; the model is told that its outcome is unknown", async () => {
  const done: string[] = [];
  const provider = new ScriptedProvider();
  let entered = (): void => {};
  const inside = new Promise<void>((resolve) => (entered = resolve));
  const hangs = (): Promise<void> => {
    entered();
    return new Promise(() => {});
  };
  const first = await start({ tools: [recorder(done, hangs)], provider });
  provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Let me check."));
  const before = await first.open({ auto_approve: true });
  await before.say("go");
  await inside;
  void first.engine.stop(0);
  await first.store.close();

  const second = await startEngine({ folder: first.folder, tools: [recorder(done)], provider });
  const ws = second.watch(before.ws_id);
  await second.engine.recover();
  await ws.turnEnded();
  expect(done).toEqual(["x"]);
  expect(ws.one("tool_result")).toMatchObject({ effect: "unknown" });
  expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", is_error: true });
  await second.crash();
});

test("always for a tool is remembered in that workstream alone", async () => {
  const done: string[] = [];
  const { engine, watch, provider } = await start({ tools: [recorder(done)] });
  provider.script(
    calls({ name: "record", arguments: { text: "1" } }),
    calls({ name: "record", arguments: { text: "2" } }),
    says("ok"),
  );
  const created = await engine.create({ user_id: "u1" });
  if (!created.ok) throw new Error(created.error);
  const ws = watch(created.workstream.ws_id);
  await ws.say("go");
  await ws.until(() => ws.types().includes("approve_request"));
  await engine.approve(ws.ws_id, { ...yes(), always: true });
  await ws.turnEnded();
  expect(done).toEqual(["1", "2"]);
  expect(ws.types().filter((type) => type === "approve_request")).toHaveLength(1);
});

// REQ-ENGINE-013
test("a failed model ends the turn with one plain sentence, and the next message goes on (SSE-10)", async () => {
  const { open, provider } = await start();
  const failure = {
    code: "model_rejected" as const,
    message: "The model refused the request.",
    detail: "",
    retryable: false,
  };
  provider.script([{ type: "failed", failure }], says("Here I am."));
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(ws.one("error")).toMatchObject({ code: "model_rejected" });
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "failed" });
  await ws.say("again");
  await ws.turnEnded(2);
  expect(ws.kept().at(-1)).toMatchObject({ outcome: "done" });
});

test("ids that a model repeats are made unique (PROV-03, PROV-04, REQ-ENGINE-014)", async () => {
  const { open, provider } = await start({ tools: [echo] });
  provider.script(
    calls({ id: "call_0", name: "echo", arguments: { text: "1" } }),
    calls(
      { id: "call_0", name: "echo", arguments: { text: "2" } },
      { id: "call_0", name: "echo", arguments: { text: "3" } },
    ),
    says("ok"),
  );
  const ws = await open();
  await ws.say("go");
  await ws.turnEnded();
  const ids = ws.kept().flatMap((event) => (event.type === "tool_result" ? [event.call_id] : []));
  expect(new Set(ids).size).toBe(3);
});
