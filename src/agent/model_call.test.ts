import { afterEach, expect, test } from "vitest";
import { engineModel, engineModels, startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { startModelServer, type ModelServer } from "../../test/support/model_server/model_server.ts";
import { reply } from "../../test/support/model_server/reply.ts";
import { says, ScriptedProvider, type Script } from "../../test/support/scripted_provider.ts";
import { createTestClock } from "../../test/support/test_clock.ts";
import type { ModelSettings, ProviderFailure } from "../contracts/provider.ts";
import { createProviders } from "../providers/index.ts";
import { keepProbing, probeModel } from "./probe.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(options: EngineRigOptions = {}) {
  const clock = createTestClock();
  const rig = await startEngine({ clock, ...options });
  closers.push(() => rig.close());
  return { ...rig, clock };
}

/** The engine with a real provider, whose server is played. */
async function startOnServer(settings: Partial<ModelSettings> = {}) {
  const server = await startModelServer();
  closers.push(() => server.close());
  const rig = await start({ models: engineModels(onServer(server, settings)), providers: createProviders().values() });
  return { ...rig, server };
}

function onServer(server: ModelServer, settings: Partial<ModelSettings> = {}): ModelSettings {
  return engineModel({ provider: "openai-compatible", base_url: server.base_url, api_key: "k", ...settings });
}

function fails(failure: Partial<ProviderFailure> = {}, shown = ""): Script {
  const whole = {
    code: "model_overloaded",
    message: "The model's server is overloaded. Try again soon.",
    detail: "",
    retryable: true,
  } as const;
  return [
    ...(shown === "" ? [] : [{ type: "content" as const, text: shown }]),
    { type: "failed", failure: { ...whole, ...failure } },
  ];
}

type Watched = Awaited<ReturnType<Awaited<ReturnType<typeof start>>["open"]>>;

function restartsOf({ frames }: Watched): string[] {
  return frames.flatMap(({ event }) => (event.type === "stream_restart" ? [event.message] : []));
}

test("Retry-After in seconds is waited for, and the wait is seen (PROV-12, REQ-MODEL-010)", async () => {
  const { open, server, clock } = await startOnServer();
  server.script([reply.status(429, { retry_after: 20 }), reply.text("There you are.")]);
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(clock.slept).toEqual([20_000]);
  expect(restartsOf(ws)).toEqual(["The model's server limits how often it may be asked. Trying again in 20 seconds."]);
  expect(ws.one("assistant").content).toBe("There you are.");
  expect(ws.one("turn_ended").outcome).toBe("done");
});

test("Retry-After as a date is waited for (PROV-12)", async () => {
  const { open, server, clock } = await startOnServer();
  const date = new Date(Date.now() + 30_000).toUTCString();
  server.script([reply.status(503, { retry_after: date }), reply.text("Back.")]);
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(clock.slept).toHaveLength(1);
  expect(clock.slept[0]).toBeGreaterThan(10_000);
  expect(clock.slept[0]).toBeLessThanOrEqual(30_000);
  expect(ws.one("assistant").content).toBe("Back.");
});

test("a wait that nobody would sit out ends the turn at once, saying how long and when (PROV-12)", async () => {
  const { open, server, clock } = await startOnServer();
  server.script([reply.status(429, { retry_after: 99_999 })]);
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(clock.slept).toEqual([]);
  expect(server.requests).toHaveLength(1);
  const error = ws.one("error");
  expect(error).toMatchObject({ code: "model_rate_limited", message: expect.stringContaining("28 hours") });
  expect(Date.parse(error.retry_at ?? "")).toBeGreaterThan(clock.now());
  expect(ws.one("turn_ended").outcome).toBe("failed");
});

test("a cancel ends the wait for a retry, and the next message is answered (PROV-12, PROV-31)", async () => {
  const { engine, open, server, clock } = await startOnServer();
  server.script([reply.status(429, { retry_after: 30 }), reply.text("Yes.")]);
  const ws = await open();
  const held = clock.hold();
  await ws.say("hi");
  await held;
  expect(await engine.cancel(ws.ws_id, false)).toMatchObject({ status: "ok" });
  expect(ws.one("turn_ended").outcome).toBe("cancelled");
  expect(server.requests).toHaveLength(1);
  await ws.say("again");
  await ws.turnEnded(2);
  expect(ws.one("assistant").content).toBe("Yes.");
});

test("an answer that breaks off is started again visibly, and stored once (PROV-11, REQ-MODEL-011)", async () => {
  const { open, server } = await startOnServer();
  const text = "One two three four five six.";
  server.script([reply.cut({ text }, { after_frames: 4 }), reply.text(text)]);
  const ws = await open();
  await ws.say("count");
  await ws.turnEnded();
  const types = ws.frames.map(({ event }) => event.type);
  const restarted = types.indexOf("stream_restart");
  expect(types.indexOf("content")).toBeLessThan(restarted);
  const shown = ws.frames.slice(restarted).flatMap(({ event }) => (event.type === "content" ? [event.text] : []));
  expect(shown.join("")).toBe(text);
  expect(ws.kept().filter(({ type }) => type === "assistant")).toMatchObject([{ content: text }]);
});

test("a server that breaks off again and again is given up after four tries (PROV-11)", async () => {
  const { open, server } = await startOnServer();
  server.script(() => reply.cut({ text: "One two three four five." }, { after_frames: 3 }));
  const ws = await open();
  await ws.say("count");
  await ws.turnEnded();
  expect(server.requests).toHaveLength(4);
  expect(ws.types()).toEqual(["user_turn", "error", "turn_ended"]);
  expect(ws.one("error").code).toBe("model_cut");
});

test("a cancel closes the request of a silent server at once, and its call is never run (PROV-31)", async () => {
  const { engine, open, server } = await startOnServer();
  server.script([reply.stall(), reply.text("Now.")]);
  const ws = await open();
  await ws.say("hi");
  const request = await server.nextRequest();
  await engine.cancel(ws.ws_id, false);
  expect(await request.ended).toBe("client_hung_up");
  expect(await ws.say("again")).toMatchObject({ status: "ok" });
  await ws.turnEnded(2);
  expect(ws.one("assistant").content).toBe("Now.");
});

test("a server that falls silent is noticed and reported; one that says it is alive is waited for (PROV-32)", async () => {
  const { open, server } = await startOnServer({ stall_timeout_ms: 150 });
  server.script([reply.text("Thought long.", { warm_up: { comments: 8, every_ms: 50 } })]);
  const ws = await open();
  await ws.say("think");
  await ws.turnEnded();
  expect(ws.one("assistant").content).toBe("Thought long.");
  expect(restartsOf(ws)).toEqual([]);
  server.script(() => reply.stall({ text: "half of it" }));
  await ws.say("more");
  await ws.turnEnded(2);
  expect(ws.one("error")).toMatchObject({
    code: "model_timeout",
    message: "The model's server fell silent. Try again.",
  });
  expect(ws.kept().filter(({ type }) => type === "assistant")).toHaveLength(1);
});

test("a limit on the rate that speaks of tokens is waited out, not compacted (PROV-16)", async () => {
  const { open, server } = await startOnServer();
  const message = "Rate limit reached: maximum 30000 tokens per minute, context of your request too long.";
  server.script([reply.status(429, { message }), reply.text("Done.")]);
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(server.requests).toHaveLength(2);
  expect(ws.types()).toEqual(["user_turn", "assistant", "status", "turn_ended"]);
});

test("a model that fails is replaced by the next of the chain, in words (REQ-MODEL-012)", async () => {
  const models = engineModels(engineModel({ alias: "big" }), engineModel({ alias: "small" }));
  const provider = new ScriptedProvider().script(fails({ retryable: false }, "Half of"), says("From the small one."));
  const { open } = await start({ models, provider });
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(restartsOf(ws)).toEqual(["big did not answer; small takes over."]);
  expect(ws.one("assistant")).toMatchObject({ content: "From the small one.", model_alias: "small" });
});

test("when each model of the chain fails, one sentence names them", async () => {
  const models = engineModels(engineModel({ alias: "big" }), engineModel({ alias: "small" }));
  const provider = new ScriptedProvider().script(
    fails({ retryable: false }),
    fails({ retryable: false, retry_after_ms: 90_000 }),
  );
  const { open, clock } = await start({ models, provider });
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(ws.one("error")).toMatchObject({
    message:
      "None of the models answered (big, small); the last one said: The model's server is overloaded. Try again soon.",
    retry_at: new Date(clock.now() + 90_000).toISOString(),
  });
});

// REQ-MODEL-013
test("a model that keeps failing is left alone, then tried by one call, and health says so", async () => {
  const { engine, open, provider, clock } = await start();
  provider.script(...Array.from({ length: 20 }, () => fails()));
  const ws = await open();
  for (let turn = 1; turn <= 5; turn += 1) {
    await ws.say("hi");
    await ws.turnEnded(turn);
  }
  expect(provider.requests).toHaveLength(20);
  expect(engine.backend()).toEqual({ status: "down", circuit_state: "open" });
  await ws.say("hi");
  await ws.turnEnded(6);
  expect(provider.requests).toHaveLength(20);
  const error = ws.kept().findLast((event) => event.type === "error");
  expect(error).toMatchObject({ message: expect.stringMatching(/left alone for now\. Try again in \d+ seconds\.$/) });
  clock.advance(60_000);
  expect(engine.backend()).toEqual({ status: "up", circuit_state: "half_open" });
  provider.script(says("Well again."));
  await ws.say("hi");
  await ws.turnEnded(7);
  expect(ws.one("assistant").content).toBe("Well again.");
  expect(engine.backend()).toEqual({ status: "up", circuit_state: "closed" });
});

test("a cancelled trial leaves the circuit to the next call", async () => {
  const { engine, open, services, clock, provider } = await start();
  for (let count = 0; count < 5; count += 1) services.breakers.failed("default");
  clock.advance(60_000);
  const begun = Promise.withResolvers<void>();
  provider.script(async function* (_request, signal) {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { type: "failed", failure: { code: "model_cut", message: "Stopped.", detail: "", retryable: false } };
  }, says("Here."));
  const ws = await open();
  await ws.say("hi");
  await begun.promise;
  await engine.cancel(ws.ws_id, false);
  await ws.say("again");
  await ws.turnEnded(2);
  expect(ws.one("assistant").content).toBe("Here.");
});

test("after the cooldown a probe finds the model back without spending a person's call", async () => {
  const server = await startModelServer();
  closers.push(() => server.close());
  const model = onServer(server);
  const { engine, services, clock } = await start({
    models: engineModels(model),
    providers: createProviders().values(),
  });
  for (let count = 0; count < 5; count += 1) services.breakers.failed(model.alias);
  expect(services.breakers.wantsProbe(model.alias)).toBe(false);
  clock.advance(60_000);
  const stop = new AbortController();
  const listed = Promise.withResolvers<readonly string[]>();
  const probing = keepProbing(
    () => [model],
    services,
    stop.signal,
    (_settings, names) => listed.resolve(names),
  );
  expect(await listed.promise).toEqual(["scripted-model"]);
  stop.abort();
  await probing;
  expect(engine.backend()).toEqual({ status: "up", circuit_state: "closed" });
  expect(server.requests).toHaveLength(0);
});

test("a model that was not there at the start shows in health, and works once it is back", async () => {
  const gone = await startModelServer();
  const port = Number(new URL(gone.base_url).port);
  const model = onServer(gone);
  await gone.close();
  const { engine, open, services } = await start({
    models: engineModels(model),
    providers: createProviders().values(),
  });
  expect(await probeModel(model, services, new AbortController().signal)).toBeNull();
  expect(engine.backend()).toEqual({ status: "down", circuit_state: "closed" });
  const ws = await open();
  await ws.say("hi");
  await ws.turnEnded();
  expect(ws.one("error")).toMatchObject({
    code: "model_unreachable",
    message: expect.stringContaining("cannot be reached"),
  });
  const back = await startModelServer({ port });
  closers.push(() => back.close());
  back.script([reply.text("Here again.")]);
  await ws.say("hi");
  await ws.turnEnded(2);
  expect(ws.one("assistant").content).toBe("Here again.");
  expect(engine.backend()).toEqual({ status: "up", circuit_state: "closed" });
});
