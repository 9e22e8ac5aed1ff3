import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions, type WatchedWorkstream } from "../../test/support/engine_rig.ts";
import { recorder } from "../../test/support/little_tools.ts";
import { calls, says, type Script } from "../../test/support/scripted_provider.ts";

const ADA = { user_id: "u1", name: "Ada" };
const BEN = { user_id: "u2", name: "Ben" };
const YES = { approved: true, feedback: null, scope: null, cycle_id: null, call_id: null, calls: null };
const rigs: { close(): Promise<void> }[] = [];

async function startOwned(options: EngineRigOptions) {
  const rig = await startEngine(options);
  rigs.push(rig);
  const created = await rig.engine.create({ user_id: ADA.user_id });
  if (!created.ok) throw new Error(created.error);
  return { ...rig, ws: rig.watch(created.workstream.ws_id) };
}

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

function record(text: string): Script {
  return calls({ name: "record", arguments: { text } });
}

function asked(ws: WatchedWorkstream): number {
  return ws.types().filter((type) => type === "approve_request").length;
}

test("what the owner allowed for good still asks while a guest's words are part of the turn", async () => {
  const done: string[] = [];
  const { engine, provider, ws } = await startOwned({ tools: [recorder(done)] });
  const say = (sender: typeof ADA): Promise<unknown> =>
    engine.send(ws.ws_id, { content: "go", client_send_id: null, attachments: [], sender, source: "api" });
  const approve = (always: boolean): Promise<unknown> =>
    engine.approve(ws.ws_id, { ...YES, always, scope: { match: "tool", for: "user" }, decided_by: ADA });
  provider.script(record("1"), says("ok"), record("2"), says("ok"), record("3"), says("ok"));

  await say(ADA);
  await ws.until(() => asked(ws) === 1);
  await approve(true);
  await ws.turnEnded(1);

  await say(BEN);
  await ws.until(() => asked(ws) === 2 || ws.types().filter((type) => type === "turn_ended").length === 2);
  expect(done).toEqual(["1"]);
  await approve(false);
  await ws.turnEnded(2);

  await say(ADA);
  await ws.turnEnded(3);
  expect(done).toEqual(["1", "2", "3"]);
  expect(asked(ws)).toBe(2);
});
