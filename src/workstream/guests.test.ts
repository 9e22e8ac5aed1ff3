import { afterEach, expect, test } from "vitest";
import {
  engineModel,
  engineModels,
  startEngine,
  type EngineRigOptions,
  type WatchedWorkstream,
} from "../../test/support/engine_rig.ts";
import { recorder } from "../../test/support/little_tools.ts";
import { calls, says, type Script } from "../../test/support/scripted_provider.ts";
import type { KeptEvent } from "../protocol/event.ts";
import { planTool } from "../tools/plan.ts";
import { taskTool } from "../tools/task.ts";
import { builtIn, castProvider } from "./testing/cast.ts";

const ADA = { user_id: "u1", name: "Ada" };
const BEN = { user_id: "u2", name: "Ben" };
const YES = { approved: true, feedback: null, scope: null, cycle_id: null, call_id: null, calls: null };
const rigs: { close(): Promise<void> }[] = [];

async function startOwned(
  options: EngineRigOptions,
  request: { auto_approve?: boolean; auto_approve_tools?: string[] } = {},
) {
  const rig = await startEngine(options);
  rigs.push(rig);
  const created = await rig.engine.create({ user_id: ADA.user_id, ...request });
  if (!created.ok) throw new Error(created.error);
  const { ws_id } = created.workstream;
  const say = (sender: typeof ADA, content = "go"): Promise<unknown> =>
    rig.engine.send(ws_id, { content, client_send_id: null, attachments: [], sender, source: "api" });
  return { ...rig, ws: rig.watch(ws_id), say };
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

function record(text: string): Script {
  return calls({ name: "record", arguments: { text } });
}

function count(ws: WatchedWorkstream, type: KeptEvent["type"]): number {
  return ws.kept().filter((event) => event.type === type).length;
}

const asked = (ws: WatchedWorkstream): number => count(ws, "approve_request");

/** Waits until a turn has asked or ended, whichever comes first: what runs unasked must not hang a test. */
async function askedOrEnded(ws: WatchedWorkstream): Promise<void> {
  const before = { asked: asked(ws), ended: count(ws, "turn_ended") };
  await ws.until(() => asked(ws) > before.asked || count(ws, "turn_ended") > before.ended);
}

test("what the owner allowed for good still asks while a guest's words are part of the turn", async () => {
  const done: string[] = [];
  const { engine, provider, ws, say } = await startOwned({ tools: [recorder(done)] });
  const approve = (always: boolean): Promise<unknown> =>
    engine.approve(ws.ws_id, { ...YES, always, scope: { match: "tool", for: "user" }, decided_by: ADA });
  provider.script(record("1"), says("ok"), record("2"), says("ok"), record("3"), says("ok"));

  await say(ADA);
  await ws.until(() => asked(ws) === 1);
  await approve(true);
  await ws.turnEnded(1);

  await say(BEN);
  await ws.until(() => asked(ws) === 2 || count(ws, "turn_ended") === 2);
  expect(done).toEqual(["1"]);
  await approve(false);
  await ws.turnEnded(2);

  await say(ADA);
  await ws.turnEnded(3);
  expect(done).toEqual(["1", "2", "3"]);
  expect(asked(ws)).toBe(2);
});

test.each([
  ["auto_approve of the workstream", { auto_approve: true }],
  ["auto_approve_tools of the workstream", { auto_approve_tools: ["record"] }],
])("%s is its owner's, and asks while a guest's words are part of the turn", async (_name, request) => {
  const done: string[] = [];
  const { engine, provider, ws, say } = await startOwned({ tools: [recorder(done)] }, request);
  provider.script(record("1"), says("ok"), record("2"), says("ok"));
  await say(ADA);
  await ws.turnEnded(1);
  expect(done).toEqual(["1"]);
  await Promise.all([askedOrEnded(ws), say(BEN)]);
  expect(done).toEqual(["1"]);
  expect(asked(ws)).toBe(1);
  await engine.approve(ws.ws_id, { ...YES, always: false, decided_by: ADA });
  await ws.turnEnded(2);
  expect(done).toEqual(["1", "2"]);
});

test("a guest who joins a running turn ends what runs unasked in it", async () => {
  const done: string[] = [];
  const begun = Promise.withResolvers<void>();
  const joined = Promise.withResolvers<void>();
  const slow = recorder(done, async () => {
    begun.resolve();
    await joined.promise;
  });
  const { provider, ws, say } = await startOwned({ tools: [slow] }, { auto_approve: true });
  provider.script(record("1"), record("2"), says("ok"));
  await say(ADA);
  await begun.promise;
  await say(BEN, "and mine too");
  const next = askedOrEnded(ws);
  joined.resolve();
  await next;
  expect(done).toEqual(["1"]);
  expect(asked(ws)).toBe(1);
});

test("`--skip-permissions` is the operator's word for everybody", async () => {
  const done: string[] = [];
  const { provider, ws, say } = await startOwned({ tools: [recorder(done)], settings: { skip_permissions: true } });
  provider.script(record("1"), says("ok"));
  await say(BEN);
  await ws.turnEnded();
  expect(done).toEqual(["1"]);
});

test("the judge's bar is for the owner's turns: what a guest asks for waits for a person", async () => {
  const done: string[] = [];
  const { engine, provider, ws, say } = await startOwned({
    tools: [recorder(done)],
    models: engineModels(engineModel(), engineModel({ alias: "judge" })),
    settings: { judge: { model_alias: "judge", auto_approve_below: "high" } },
  });
  const harmless = (id: string): Script => says(JSON.stringify({ [id]: { risk: "low", reason: "Harmless." } }));
  const call = (id: string): Script => calls({ id, name: "record", arguments: { text: id } });
  provider.script(call("a"), harmless("a"), says("ok"), call("b"), harmless("b"));
  await say(ADA);
  await ws.turnEnded(1);
  expect(done).toEqual(["a"]);
  await say(BEN);
  await ws.until(() => count(ws, "risk_assessed") === 2);
  // What the judge decides is decided along with its word: a later no would find nothing open.
  expect(await engine.approve(ws.ws_id, { ...YES, approved: false, always: false, decided_by: ADA })).toMatchObject({
    ok: true,
  });
  expect(done).toEqual(["a"]);
});

/** What a sub-agent asks, or did, as its parent's stream shows it. */
function ofChild(ws: WatchedWorkstream, type: KeptEvent["type"]): number {
  return ws.frames.filter((frame) => frame.child !== null && frame.event.type === type).length;
}

test("a sub-agent that works on a guest's words has no more rights than they", async () => {
  const done: string[] = [];
  const provider = castProvider({
    go: [calls({ id: "task_1", name: "task", arguments: { prompt: "Work" } }), says("ok")],
    // From the second speaker on the model is told who says what.
    "[Ada] go": [calls({ id: "task_2", name: "task", arguments: { prompt: "Again" } }), says("ok")],
    Work: [record("1"), says("done")],
    Again: [record("2"), says("done")],
  });
  const { engine, ws, say } = await startOwned({ tools: [builtIn(taskTool()), recorder(done)], provider });
  const approve = async (): Promise<void> => {
    const scope = { match: "tool", for: "user" } as const;
    expect(await engine.approve(ws.ws_id, { ...YES, always: true, scope, decided_by: ADA })).toMatchObject({
      ok: true,
    });
  };
  await say(ADA);
  await ws.until(() => asked(ws) === 1);
  await approve();
  await ws.until(() => ofChild(ws, "approve_request") === 1);
  await approve();
  await ws.turnEnded(1);
  expect(done).toEqual(["1"]);

  await say(BEN);
  await ws.until(() => asked(ws) === 2);
  await approve();
  await ws.until(() => ofChild(ws, "approve_request") === 2 || count(ws, "turn_ended") === 2);
  expect(done).toEqual(["1"]);
  await approve();
  await ws.turnEnded(2);
  expect(done).toEqual(["1", "2"]);
});

test("a sub-agent of an `auto_approve` workstream asks when a guest spoke, and so does a plan", async () => {
  const done: string[] = [];
  const provider = castProvider({
    go: [
      calls({ id: "task_1", name: "task", arguments: { prompt: "Work" } }),
      calls({ id: "plan_1", name: "plan", arguments: { prompt: "Think" } }),
      says("ok"),
    ],
    Work: [record("1"), says("done")],
    Think: [says("1. Pack.")],
  });
  const tools = [builtIn(taskTool()), builtIn(planTool()), recorder(done)];
  const { engine, ws, say } = await startOwned({ tools, provider }, { auto_approve: true });
  const yes = { ...YES, always: false, decided_by: ADA };
  await say(BEN);
  await ws.until(() => asked(ws) === 1 || count(ws, "turn_ended") === 1);
  await engine.approve(ws.ws_id, yes);
  await ws.until(() => ofChild(ws, "approve_request") === 1 || count(ws, "turn_ended") === 1);
  expect(done).toEqual([]);
  await engine.approve(ws.ws_id, yes);
  await ws.until(() => asked(ws) === 2 || count(ws, "turn_ended") === 1);
  await engine.approve(ws.ws_id, yes);
  await ws.until(() => count(ws, "plan_review") === 1 || count(ws, "turn_ended") === 1);
  expect(count(ws, "plan_review")).toBe(1);
  await engine.plan(ws.ws_id, { feedback: "", review_id: null, decided_by: ADA });
  await ws.turnEnded();
  expect(done).toEqual(["1"]);
});

test("a guest who has the owner's turn run again has no more rights than with words of their own", async () => {
  const done: string[] = [];
  const { engine, provider, ws, say } = await startOwned({ tools: [recorder(done)] }, { auto_approve: true });
  provider.script(record("1"), says("ok"), record("2"), says("ok"), record("3"), says("ok"));
  await say(ADA);
  await ws.turnEnded(1);
  const next = askedOrEnded(ws);
  // The turn is told to have ended a moment before another may begin.
  await expect.poll(() => engine.retry(ws.ws_id, BEN)).toMatchObject({ ok: true });
  await next;
  expect(done).toEqual(["1"]);
  await engine.approve(ws.ws_id, { ...YES, always: false, decided_by: ADA });
  await ws.turnEnded(2);
  expect(done).toEqual(["1", "2"]);
  // What the owner says next is the owner's again.
  await say(ADA);
  await ws.turnEnded(3);
  expect(done).toEqual(["1", "2", "3"]);
});
