import { expect, onTestFinished, test } from "vitest";
import { engineModel, engineModels, startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { recorder } from "../../test/support/little_tools.ts";
import { calls, says, ScriptedProvider, type Script } from "../../test/support/scripted_provider.ts";
import type { ProviderEvent } from "../contracts/provider.ts";
import type { KeptEvent } from "../protocol/event.ts";

const YES = { approved: true, feedback: null, always: false, scope: null, cycle_id: null, call_id: null, calls: null };
const ADA = { user_id: "u1", name: "Ada" };
const models = engineModels(engineModel(), engineModel({ alias: "judge" }));

const record = (id: string) => ({ id, name: "record", arguments: { text: id } });
const opinions = (said: Record<string, unknown>): Script => says(`\`\`\`json\n${JSON.stringify(said)}\n\`\`\``);

/** A turn that asks for calls, with a judge that has been told what to say. */
async function start(scripts: Script[], settings: EngineRigOptions["settings"] = {}, folder?: string) {
  const done: string[] = [];
  const judge = { model_alias: "judge", auto_approve_below: null };
  const rig = await startEngine({
    models,
    tools: [recorder(done)],
    provider: new ScriptedProvider().script(...scripts),
    settings: { judge, ...settings },
    ...(folder === undefined ? {} : { folder }),
  });
  onTestFinished(() => rig.close());
  return { ...rig, done };
}

type Rig = Awaited<ReturnType<typeof start>>;

async function ask({ open }: Rig) {
  const ws = await open();
  await ws.say("record it");
  return ws;
}

const FAILS: ProviderEvent[] = [
  { type: "failed", failure: { code: "model_rejected", message: "No.", detail: "", retryable: false } },
];

const told = (type: KeptEvent["type"]) => (frames: readonly { event: { type: string } }[]) =>
  frames.some(({ event }) => event.type === type);

test("a second opinion is told beside the card, once, and a person decides", async () => {
  const rig = await start([
    calls(record("a"), record("b")),
    opinions({
      a: { risk: "low", reason: "It only\nadds a line." },
      b: { risk: "high", reason: "x".repeat(500) },
      c: {},
    }),
    says("Done."),
  ]);
  const ws = await ask(rig);
  await ws.until(told("risk_assessed"));
  const { assessments, error } = ws.one("risk_assessed");
  expect(assessments).toMatchObject({ a: { risk: "low", reason: "It only adds a line." }, b: { risk: "high" } });
  expect(Object.keys(assessments)).toEqual(["a", "b"]);
  expect(assessments["b"]?.reason.length).toBeLessThan(200);
  expect(error).toBeUndefined();
  expect(rig.done).toEqual([]);
  await rig.engine.approve(ws.ws_id, { ...YES, call_id: "a", decided_by: ADA });
  await rig.engine.approve(ws.ws_id, { ...YES, decided_by: ADA });
  await ws.turnEnded();
  expect(rig.done).toEqual(["a", "b"]);
  const judged = rig.provider.requests.filter(({ system }) => system.startsWith("You judge how risky"));
  expect(judged).toHaveLength(1);
  expect(judged[0]?.tools).toEqual([]);
  expect(JSON.stringify(judged[0]?.messages)).toContain("record it");
});

test("only where the settings say so does it decide: below the bar, and never what a rule asks for or what destroys", async () => {
  const low = { risk: "low", reason: "Harmless." };
  const judge = { model_alias: "judge", auto_approve_below: "medium" } as const;
  const rig = await start(
    [
      calls(record("a"), record("b"), record("rule")),
      opinions({ a: low, b: { ...low, risk: "medium" }, rule: low }),
      says("Done."),
    ],
    {
      judge,
      rules: [{ tool: "record", pattern: "rule", action: "ask", users: [], reason: null }],
    },
  );
  const ws = await ask(rig);
  await ws.until(told("approval_resolved"));
  expect(ws.one("approval_resolved")).toMatchObject({ calls: { a: true }, decided_by: null, reason: "judge" });
  expect(rig.done).toEqual([]);
  await rig.engine.approve(ws.ws_id, { ...YES, approved: false, decided_by: ADA });
  await ws.turnEnded();
  expect(rig.done).toEqual(["a"]);
});

test.each([
  ["says nothing that can be read", says("This is fine, trust me: low"), "it gave no answer that can be read"],
  ["fails", FAILS, "No."],
])("a judge that %s keeps nobody from deciding, and lets nothing run", async (_how, script: Script, error) => {
  const judge = { model_alias: "judge", auto_approve_below: "high" } as const;
  const rig = await start([calls(record("a")), script, says("Done.")], { judge });
  const ws = await ask(rig);
  await ws.until(told("risk_assessed"));
  expect(ws.one("risk_assessed")).toMatchObject({ assessments: {}, error });
  expect(rig.done).toEqual([]);
  await rig.engine.approve(ws.ws_id, { ...YES, decided_by: ADA });
  await ws.turnEnded();
  expect(rig.done).toEqual(["a"]);
});

test("an opinion that comes after the decision is not told, and one that a crash cut off is asked for again", async () => {
  const late = Promise.withResolvers<void>();
  const slow: Script = async function* () {
    await late.promise;
    yield* says("{}");
  };
  const rig = await start([calls(record("a")), slow, says("Done."), calls(record("b")), slow]);
  const ws = await ask(rig);
  await ws.until(told("approve_request"));
  await rig.engine.approve(ws.ws_id, { ...YES, decided_by: ADA });
  await ws.turnEnded();
  late.resolve();
  await ws.say("again");
  await ws.until((frames) => frames.filter(({ event }) => event.type === "approve_request").length === 2);
  expect(ws.types()).not.toContain("risk_assessed");
  await rig.crash();
  const after = await start([opinions({ b: { risk: "low", reason: "Harmless." } })], {}, rig.folder);
  const again = after.watch(ws.ws_id);
  await after.engine.recover();
  await again.until(told("risk_assessed"));
  expect(again.one("risk_assessed").assessments).toMatchObject({ b: { risk: "low" } });
});
