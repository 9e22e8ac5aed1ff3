import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo, recorder } from "../../test/support/little_tools.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";
import { createRedactor } from "../lib/redact.ts";
import { createStreamRedactors } from "../lib/redact_stream.ts";
import { textOf } from "../protocol/message.ts";

const ADA = { user_id: "u1", name: "Ada" };
const BEN = { user_id: "u2", name: "Ben" };
const rigs: Awaited<ReturnType<typeof startEngine>>[] = [];

async function start(options: EngineRigOptions = {}) {
  const rig = await startEngine(options);
  rigs.push(rig);
  return rig;
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

function decision(approved: boolean, more: { feedback?: string; decided_by?: typeof ADA } = {}) {
  const { feedback = null, decided_by = ADA } = more;
  return { approved, feedback, decided_by, cycle_id: null, always: false, scope: null, call_id: null, calls: null };
}

const record = (text: string) => ({ name: "record", arguments: { text } });

test("nobody answers in time: it counts as denied by nobody, and a later press is told so (APPR-06, APPR-08)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done)], settings: { approval_timeout_s: 0.05 } });
  provider.script(calls(record("x")), says("Nobody was there."));
  const ws = await open();
  await ws.say("do it");
  await ws.turnEnded();
  expect(ws.one("approval_resolved")).toMatchObject({ approved: false, decided_by: null, reason: "expired" });
  expect(ws.one("tool_result").output).toContain("Nobody answered");
  const { cycle_id } = ws.one("approve_request");
  const late = await engine.approve(ws.ws_id, { ...decision(true), cycle_id });
  expect(late).toMatchObject({ ok: false, reason: "settled", error: expect.stringContaining("expired") });
  expect(done).toEqual([]);
  expect(await ws.say("go on")).toMatchObject({ status: "ok" });
});

test("what a person adds to a yes comes after all results, and what they add to a no stands in the denial (APPR-11)", async () => {
  const done: string[] = [];
  const { engine, open, provider } = await start({ tools: [recorder(done), echo] });
  provider.script(
    calls({ id: "a", ...record("x") }, { id: "b", name: "echo", arguments: { text: "pong" } }),
    calls({ id: "c", ...record("y") }),
    says("Done."),
  );
  const ws = await open();
  await ws.say("do it");
  await ws.until((frames) => frames.some(({ event }) => event.type === "approve_request"));
  await engine.approve(ws.ws_id, decision(true, { feedback: "but\n[Ben] gently" }));
  await ws.until((frames) => frames.filter(({ event }) => event.type === "approve_request").length === 2);
  await engine.approve(ws.ws_id, decision(false, { feedback: "not twice" }));
  await ws.turnEnded();
  const second = provider.requests[1]?.messages.slice(-3) ?? [];
  expect(second.map(({ role }) => role)).toEqual(["tool", "tool", "user"]);
  const note = second.at(-1);
  expect(note?.role === "user" ? textOf(note.content) : "").toBe("Ada approved and added: but\n\\[Ben] gently");
  const denial = provider.requests[2]?.messages.at(-1);
  expect(denial?.role === "tool" ? textOf(denial.content) : "").toContain("Ada denied this call and said: not twice");
  expect(done).toEqual(["x"]);
});

test("while a call waits for a person the turn stands still (APPR-21)", async () => {
  const { engine, open, provider } = await start({ tools: [recorder([])] });
  provider.script(calls(record("x")), says("Done."));
  const ws = await open();
  await ws.say("do it");
  await ws.until((frames) => frames.some(({ event }) => event.type === "approve_request"));
  expect(await ws.say("are you there?")).toMatchObject({ status: "queued" });
  await new Promise((resolve) => setImmediate(resolve));
  expect(provider.requests).toHaveLength(1);
  expect((await engine.snapshot(ws.ws_id))?.state).toBe("attention");
  await engine.approve(ws.ws_id, decision(true));
  await ws.turnEnded();
  expect(provider.requests).toHaveLength(2);
});

test("what is sent as soon as idle is told is accepted at once (SSE-08)", async () => {
  const { open, provider } = await start();
  provider.script(says("one"), says("two"));
  const ws = await open();
  await ws.say("first");
  await ws.until((frames) => frames.some(({ event }) => event.type === "state_change" && event.state === "idle"));
  expect(["ok", "queued"]).toContain(((await ws.say("second")) as { status: string }).status);
  await ws.turnEnded(2);
  expect(provider.requests).toHaveLength(2);
});

test("two messages in one moment make one turn or two, never two at once (SSE-14)", async () => {
  const { open, provider } = await start();
  let running = 0;
  let most = 0;
  const alone = async function* () {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
    yield* says("Well.");
  };
  provider.script(alone, alone);
  const ws = await open();
  const answers = await Promise.all([ws.say("one"), ws.say("two")]);
  expect(answers.map((answer) => ("status" in answer ? answer.status : "failed"))).toEqual(["ok", "queued"]);
  await ws.until(
    () => ws.types().filter((type) => type === "user_turn").length === 2 && !ws.types().at(-1)?.startsWith("user"),
  );
  await ws.until((frames) => frames.at(-1)?.event.type === "ws_state" || ws.types().at(-1) === "turn_ended");
  expect(most).toBe(1);
  const roles = (provider.requests.at(-1)?.messages ?? []).map(({ role }) => role);
  expect(roles.filter((role) => role === "user")).toHaveLength(2);
});

test("a turn that cannot start leaves the workstream idle and usable (SSE-15)", async () => {
  const { open, provider } = await start();
  provider.script(() => {
    throw new Error("a fault of ours");
  }, says("Better."));
  const ws = await open();
  await ws.say("first");
  await ws.turnEnded();
  expect(["ok", "queued"]).toContain(((await ws.say("second")) as { status: string }).status);
  await ws.turnEnded(2);
  expect(ws.kept().at(-3)).toMatchObject({ type: "assistant", content: "Better." });
  expect(JSON.stringify(ws.frames.map(({ event }) => event))).not.toContain("a fault of ours");
});

test("many busy workstreams do not push each other out (SSE-16)", async () => {
  const { engine, open, provider } = await start({ tools: [recorder([])] });
  provider.script(...Array.from({ length: 60 }, () => calls(record("x"))));
  const all = await Promise.all(Array.from({ length: 60 }, () => open()));
  await Promise.all(all.map((ws) => ws.say("do it")));
  await Promise.all(
    all.map((ws) => ws.until((frames) => frames.some(({ event }) => event.type === "approve_request"))),
  );
  provider.script(...all.map(() => says("Done.")));
  const answers = await Promise.all(all.map((ws) => engine.approve(ws.ws_id, decision(true, { decided_by: BEN }))));
  expect(answers.every(({ ok }) => ok)).toBe(true);
  await Promise.all(all.map((ws) => ws.turnEnded()));
});

test("after a restart in a batch each call has its result, or neither has (STOR-11)", async () => {
  const done: string[] = [];
  const tools = [recorder(done), echo];
  const first = await startEngine({ tools });
  first.provider.script(calls({ id: "a", name: "echo", arguments: { text: "pong" } }, { id: "b", ...record("x") }));
  const ws = await first.open();
  await ws.say("do it");
  await ws.until((frames) => frames.some(({ event }) => event.type === "approve_request"));
  await first.crash();
  const second = await start({ tools, folder: first.folder });
  second.provider.script(says("Done."), says("And on."));
  await second.engine.recover();
  const again = second.watch(ws.ws_id);
  await second.engine.approve(ws.ws_id, decision(true));
  await again.turnEnded();
  await again.say("go on");
  await again.turnEnded(2);
  const messages = second.provider.requests.at(-1)?.messages ?? [];
  const asked = messages.flatMap((message) =>
    message.role === "assistant" ? message.tool_calls.map(({ id }) => id) : [],
  );
  const answered = messages.flatMap((message) => (message.role === "tool" ? [message.call_id] : []));
  expect([asked, answered]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  expect(done).toEqual(["x"]);
});

test("a model that was taken out of the settings is told of, once, and the default answers (STOR-12)", async () => {
  const first = await startEngine();
  const { ws_id } = await first.open();
  await first.store.workstreams.update(ws_id, { model_alias: "gone" });
  await first.crash();
  const { watch, provider, store } = await start({ folder: first.folder });
  provider.script(says("Here I am."));
  const ws = watch(ws_id);
  await ws.say("hello");
  await ws.turnEnded();
  const told = (await store.journal.read(ws_id, 0)).map(({ event }) => event);
  expect(told.filter(({ type }) => type === "info")).toMatchObject([
    { message: expect.stringContaining("gone is no longer configured; default") },
  ]);
  expect((await store.workstreams.get(ws_id))?.model_alias).toBeNull();
});

test("a secret in a model's words reaches nobody, in pieces or whole, whoever comes late (SECR-03)", async () => {
  const secret = "correct-horse-battery-staple";
  const text = createRedactor([secret]);
  const { engine, open, provider, store } = await start({
    redact: { text, stream: createStreamRedactors(text, [secret]) },
  });
  let snapshot: unknown = null;
  const inPieces = async function* () {
    for (const piece of ["It is cor", "rect-horse-ba", "ttery-sta", "ple, yes."]) {
      yield { type: "content", text: piece } as const;
      await new Promise((resolve) => setImmediate(resolve));
      snapshot = [snapshot, (await engine.snapshot(ws.ws_id))?.in_progress];
    }
    yield* says("").slice(1);
  };
  provider.script(inPieces);
  const ws = await open();
  await ws.say("tell me");
  await ws.turnEnded();
  expect(ws.one("assistant").content).toBe("It is [redacted], yes.");
  const shown = ws.frames.map(({ event }) => (event.type === "content" ? event.text : "")).join("");
  expect(shown).toBe("It is [redacted], yes.");
  expect(
    JSON.stringify([snapshot, ws.frames.map(({ event }) => event), await store.journal.read(ws.ws_id, 0)]),
  ).not.toMatch(/rect-horse|battery|staple/);
});
