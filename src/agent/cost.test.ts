import { afterEach, expect, test } from "vitest";
import { engineModel, engineModels, startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo } from "../../test/support/little_tools.ts";
import { calls, says, ScriptedProvider, type Script } from "../../test/support/scripted_provider.ts";
import { createTestClock } from "../../test/support/test_clock.ts";
import { loadDefinitions } from "../catalog/definitions.ts";
import { taskTool } from "../tools/task.ts";

const ADA = { user_id: "u1", name: "Ada" };
const PRICE = { input: 10, output: 100, cache_read: 1, cache_write: 12 };
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(options: EngineRigOptions) {
  const clock = createTestClock();
  const rig = await startEngine({ clock, tools: [echo], ...options });
  closers.push(() => rig.close());
  const created = await rig.engine.create({ user_id: ADA.user_id, auto_approve: true });
  if (!created.ok) throw new Error(created.error);
  return { ...rig, clock, ws: rig.watch(created.workstream.ws_id) };
}

/** Each call of a script reads 100 tokens and writes 10; the title does too. */
const PER_CALL = { prompt_tokens: 100, completion_tokens: 10 };

test("the cost of a turn sums what each model that answered costs", async () => {
  const failing: Script = [
    { type: "failed", failure: { code: "model_rejected", message: "No.", detail: "", retryable: false } },
  ];
  const dear = engineModel({ alias: "dear", price: PRICE });
  const cheap = engineModel({ alias: "cheap", price: { ...PRICE, input: 1, output: 2 } });
  const provider = new ScriptedProvider().script(
    calls({ name: "echo", arguments: { text: "x" } }),
    failing,
    says("Done."),
  );
  const { ws } = await start({ models: engineModels(dear, cheap), provider });
  await ws.say("hi");
  await ws.turnEnded();
  const status = ws.one("status");
  expect(status.cost_usd).toBeCloseTo((100 * 10 + 10 * 100 + 100 * 1 + 10 * 2) / 1_000_000, 12);
  expect(status.model_alias).toBe("cheap");
});

test("a price that is missing leaves the cost out, for the rest would pass for the whole", async () => {
  const free = engineModel({ alias: "free" });
  const { ws } = await start({ models: engineModels(free), provider: new ScriptedProvider().script(says("Hi.")) });
  await ws.say("hi");
  await ws.turnEnded();
  expect(ws.one("status").cost_usd).toBeUndefined();
});

test("the cost of a turn holds what its sub-agents used", async () => {
  const definition = loadDefinitions().find(({ name }) => name === "task");
  if (definition === undefined) throw new Error("There is no definition of task.");
  const provider = new ScriptedProvider().script(
    calls({ name: "task", arguments: { prompt: "look" } }),
    calls({ name: "echo", arguments: { text: "x" } }),
    says("It is there."),
    says("Found."),
  );
  const models = engineModels(engineModel({ alias: "dear", price: PRICE }));
  const { ws } = await start({ models, provider, tools: [echo, { definition, tool: taskTool() }] });
  await ws.say("find it");
  await ws.turnEnded();
  expect(ws.one("status").cost_usd).toBeCloseTo((4 * (100 * 10 + 10 * 100)) / 1_000_000, 12);
});

test("what sub-agents use is counted for the person, and /status shows the day", async () => {
  const definition = loadDefinitions().find(({ name }) => name === "task");
  if (definition === undefined) throw new Error("There is no definition of task.");
  const provider = new ScriptedProvider().script(
    calls({ name: "task", arguments: { prompt: "look" } }),
    says("Looked."),
    says("Done."),
  );
  const models = engineModels(engineModel({ price: PRICE }));
  const rig = await start({ models, provider, tools: [{ definition, tool: taskTool() }] });
  const { ws, store, engine, clock } = rig;
  await ws.say("hi");
  await ws.turnEnded();
  const since = "2000-01-01T00:00:00.000Z";
  await expect
    .poll(async () => (await store.usage.total({ user_id: ADA.user_id, since })).prompt_tokens)
    .toBe(4 * PER_CALL.prompt_tokens);
  const own = await store.usage.total({ ws_id: ws.ws_id, since });
  expect(own.prompt_tokens).toBe(3 * PER_CALL.prompt_tokens);
  const shown = async () => engine.command(ws.ws_id, "/status", ADA);
  expect(await shown()).toMatchObject({
    output: expect.stringContaining("Used today (UTC): 400 tokens read, 40 written, 0.0080 USD where prices are known"),
  });
  clock.advance(24 * 3_600_000);
  expect(await shown()).toMatchObject({
    output: expect.stringContaining("Used today (UTC): 0 tokens read, 0 written"),
  });
});

test("/model says what is believed of the model and why", async () => {
  const believed = { known_as: "claude-opus-4-5", configured: ["context_window"] };
  const model = engineModel({ model: "claude-opus-4-5-20251101", believed });
  const known = await start({ models: engineModels(model) });
  const lines = async (rig: typeof known) => {
    const answer = await rig.engine.command(rig.ws.ws_id, "/model", ADA);
    return answer.ok ? answer.output.split("\n") : [];
  };
  expect(await lines(known)).toEqual(
    expect.arrayContaining([
      "context_window = 128000 (configured)",
      "max_output_tokens = 4096 (known of claude-opus-4-5…)",
    ]),
  );
  const unknown = await start({ models: engineModels(engineModel({ model: "home-made" })) });
  expect(await lines(unknown)).toContain(
    "supports_vision = false (safe for a model that is not known, as home-made is)",
  );
});
