import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRig, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { says, ScriptedProvider } from "../../test/support/scripted_provider.ts";
import { systemClock } from "../lib/clock.ts";
import type { Delivery } from "./services.ts";

const ADA = { user_id: "u1", name: "Ada" };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Bench {
  rig: EngineRig;
  ws_id: string;
  delivered: Delivery[];
  /** Moves the clock on. */
  pass(minutes: number): void;
  /** Resolves when something was delivered. */
  delivery: Promise<void>;
}

async function start(options: EngineRigOptions = {}, known_ws_id?: string): Promise<Bench> {
  let shift = 0;
  const delivered: Delivery[] = [];
  const { promise: delivery, resolve } = Promise.withResolvers<void>();
  const rig = await startEngine({
    clock: { ...systemClock, now: () => Date.now() + shift },
    deliver: () => (one) => {
      delivered.push(one);
      resolve();
      return Promise.resolve({ ok: true, notification_id: one.notification_id, deliveries: [] });
    },
    ...options,
  });
  closing.push(() => rig.close());
  return {
    rig,
    ws_id: known_ws_id ?? (await openLongOne(rig)),
    delivered,
    pass: (minutes) => (shift += minutes * 60_000),
    delivery,
  };
}

async function openLongOne(rig: EngineRig): Promise<string> {
  const created = new Date().toISOString();
  const user = { username: "ada", display_name: "Ada", password_hash: null, scopes: "write", created };
  await rig.store.users.create({ ...user, user_id: "u1" });
  const opened = await rig.engine.create({ user_id: "u1", name: "the long one" });
  if (!opened.ok) throw new Error(opened.error);
  return opened.workstream.ws_id;
}

/** A turn that takes `minutes` by the clock; answers what was delivered once all is at rest. */
async function turnOf(minutes: number, tell_owner_when_done: boolean): Promise<Delivery[]> {
  const { rig, ws_id, delivered, pass } = await start({ settings: { tell_owner_when_done } });
  const ws = rig.watch(ws_id);
  rig.provider.script(async function* () {
    pass(minutes);
    yield* says("Done.");
  });
  await ws.say("go");
  await ws.turnEnded();
  await ws.say("and again");
  await ws.turnEnded(2);
  return delivered;
}

test("a turn longer than five minutes tells its owner once, where the settings say so", async () => {
  const delivered = await turnOf(7, true);
  expect(delivered).toHaveLength(1);
  expect(delivered[0]).toMatchObject({ target: { username: "ada" } });
  expect(delivered[0]?.message).toBe('"the long one" has finished after 7 minutes. Answer here to go on.');
});

test("a short turn tells nobody, and neither does a long one without the setting", async () => {
  expect(await turnOf(1, true)).toEqual([]);
  expect(await turnOf(7, false)).toEqual([]);
});

test("whoever asks while a turn runs is told of its end, however long it took, and of no later one", async () => {
  const { rig, ws_id, delivered, delivery } = await start();
  const ws = rig.watch(ws_id);
  const { promise: asked, resolve: goOn } = Promise.withResolvers<void>();
  rig.provider.script(async function* () {
    await asked;
    yield* says("Done.");
  });
  await ws.say("go");
  expect(await rig.engine.command(ws_id, "/done", ADA)).toMatchObject({
    output: "Ada is told by DM when this is done.",
  });
  expect(await rig.engine.command(ws_id, "/done", ADA)).toMatchObject({ ok: true });
  goOn();
  await delivery;
  await ws.turnEnded();
  await ws.say("and again");
  await ws.turnEnded(2);
  expect(delivered.map(({ target, message }) => [target, message])).toEqual([
    [{ username: "ada" }, '"the long one" has finished after less than a minute. Answer here to go on.'],
  ]);
});

test("the wish to be told outlives a crash", async () => {
  const first = await start();
  first.rig.provider.script(async function* (_request, signal) {
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    yield* says("Never said.");
  });
  const ws = first.rig.watch(first.ws_id);
  await ws.say("go");
  await first.rig.engine.command(first.ws_id, "/done", ADA);
  await first.rig.crash();
  const provider = new ScriptedProvider().script(says("Done after all."));
  const second = await start({ folder: first.rig.folder, provider }, first.ws_id);
  await second.rig.engine.recover();
  await second.delivery;
  expect(second.delivered.map(({ target }) => target)).toEqual([{ username: "ada" }]);
});

test("nobody can ask to be told of a turn that is over", async () => {
  const { rig, ws_id } = await start();
  expect(await rig.engine.command(ws_id, "/done", ADA)).toMatchObject({ output: "Nothing is running." });
});

test("a notice that a crash kept from being written down is sent by the next start, and one of an old end is not", async () => {
  let held = 0;
  const never = (): Promise<never> => {
    held += 1;
    return new Promise(() => {});
  };
  const first = await start({ deliver: () => never, settings: { tell_owner_when_done: true } });
  const ws = first.rig.watch(first.ws_id);
  first.rig.provider.script(async function* () {
    first.pass(7);
    yield* says("Done.");
  });
  await ws.say("go");
  await expect.poll(() => held).toBe(1);
  await first.rig.crash();
  const options = { folder: first.rig.folder, settings: { tell_owner_when_done: true } };
  const second = await start(options, first.ws_id);
  second.pass(7);
  await second.rig.engine.recover();
  await second.delivery;
  expect(second.delivered).toHaveLength(1);
  await second.rig.crash();
  const third = await start(options, first.ws_id);
  third.pass(60);
  await third.rig.engine.recover();
  expect(third.delivered).toEqual([]);
});

test("whoever asks while the turn's end is being written is told of it too", async () => {
  const { rig, ws_id, delivery, delivered } = await start();
  const ws = rig.watch(ws_id);
  rig.provider.script(says("Done."));
  const commit = rig.store.journal.commit.bind(rig.store.journal);
  // Asked in the very moment in which the end is handed to the disk.
  rig.store.journal.commit = (step) =>
    commit(() => {
      const taken = typeof step === "function" ? step() : step;
      if (taken.entries.some(({ event }) => event.type === "turn_ended")) void rig.engine.command(ws_id, "/done", ADA);
      return taken;
    });
  await ws.say("go");
  await delivery;
  expect(delivered.map(({ target }) => target)).toEqual([{ username: "ada" }]);
});
