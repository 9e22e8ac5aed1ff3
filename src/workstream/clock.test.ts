import { expect, onTestFinished, test } from "vitest";
import { startEngine, type EngineRig, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { recorder } from "../../test/support/little_tools.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";
import { systemClock, type Clock } from "../lib/clock.ts";

const HOUR_MS = 3_600_000;
const ADA = { user_id: "u1", name: "Ada" };
const YES = { approved: true, feedback: null, always: false, scope: null, call_id: null, calls: null, decided_by: ADA };

/** An engine whose clock can be set by hand, and a turn of it that waits for an approval. */
async function start(settings: EngineRigOptions["settings"] = {}) {
  let ahead_ms = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead_ms };
  const done: string[] = [];
  const rig: EngineRig = await startEngine({ clock, tools: [recorder(done)], settings });
  onTestFinished(() => rig.close());
  rig.provider.script(calls({ name: "record", arguments: { text: "x" } }), says("Done."));
  const ws = await rig.open();
  await ws.say("do it");
  await ws.until((frames) => frames.some(({ event }) => event.type === "approve_request"));
  return { ...rig, ws, done, jump: (milliseconds: number): void => void (ahead_ms += milliseconds) };
}

test("a clock that is set back and forth in the middle of a turn loses and doubles nothing", async () => {
  const { engine, ws, done, jump } = await start();
  jump(-HOUR_MS);
  await engine.approve(ws.ws_id, { ...YES, cycle_id: null });
  await ws.turnEnded();
  expect(done).toEqual(["x"]);
  expect(ws.one("status").duration_ms).toBe(0);
  jump(3 * HOUR_MS);
  await ws.say("and again");
  await ws.turnEnded(2);
  const seqs = ws.frames.flatMap(({ seq }) => (seq === null ? [] : [seq]));
  expect(seqs).toEqual(seqs.map((_seq, index) => index + 1));
});

test("a press after the deadline that the card names runs nothing, though the machine slept and no timer fired", async () => {
  const { engine, ws, done, jump } = await start({ approval_timeout_s: 3600 });
  jump(2 * HOUR_MS);
  const { cycle_id } = ws.one("approve_request");
  const late = await engine.approve(ws.ws_id, { ...YES, cycle_id });
  expect(late).toMatchObject({ ok: false, reason: "settled", error: expect.stringContaining("expired") });
  await ws.turnEnded();
  expect(ws.one("approval_resolved")).toMatchObject({ approved: false, decided_by: null, reason: "expired" });
  expect(done).toEqual([]);
});
