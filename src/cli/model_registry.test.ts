import { afterEach, expect, test } from "vitest";
import { startModelServer, type ModelServer } from "../../test/support/model_server/model_server.ts";
import { createTestClock } from "../../test/support/test_clock.ts";
import { Breakers } from "../agent/breaker.ts";
import type { ModelConfig } from "../config/models.ts";
import { createLog } from "../lib/log.ts";
import { createProviders } from "../providers/index.ts";
import { createModelRegistry, watchModels } from "./model_registry.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(options: Parameters<typeof startModelServer>[0] = {}): Promise<ModelServer> {
  const server = await startModelServer(options);
  closers.push(() => server.close());
  return server;
}

function portOf({ base_url }: ModelServer): number {
  return Number(new URL(base_url).port);
}

/** A port on which nobody listens any more. */
async function freePort(): Promise<number> {
  const server = await startModelServer();
  await server.close();
  return portOf(server);
}

function configOf(models: Record<string, Partial<ModelConfig>>) {
  const unset: ModelConfig = {
    provider: "openai-compatible",
    base_url: null,
    api_key: null,
    model: null,
    effort: null,
    temperature: null,
    stall_timeout: 60,
    capabilities: {},
    price: null,
  };
  return {
    models: Object.fromEntries(Object.entries(models).map(([alias, model]) => [alias, { ...unset, ...model }])),
    model: { default: null, fallback: [], agent_model: null },
    server: { port: 8080 },
  };
}

/** Runs the watch until `enough` says so; gives what was logged. */
async function watch(
  known: Awaited<ReturnType<typeof createModelRegistry>>,
  enough: (lines: readonly string[]) => boolean,
) {
  const clock = createTestClock();
  const breakers = new Breakers(clock);
  const lines: string[] = [];
  const stop = new AbortController();
  const write = (line: string): void => {
    lines.push(line);
    if (enough(lines)) stop.abort();
  };
  const log = createLog({ level: "info", format: "json", redact: (text) => text, write, now: () => clock.now() });
  await watchModels(known, { providers: createProviders(), breakers, clock, log }, stop.signal);
  return { lines, breakers };
}

test("with nothing configured a local server on a usual port is found, and its model is used", async () => {
  const server = await serve({ models: ["qwen3:8b", "other"] });
  const known = await createModelRegistry(configOf({}), createProviders(), [await freePort(), portOf(server)]);
  expect(known.found).toBe(server.base_url);
  const model = known.current().models.get("local");
  expect(model).toMatchObject({ model: "qwen3:8b", base_url: server.base_url, believed: { known_as: null } });
  expect(known.current().default_alias).toBe("local");
});

test("with nothing configured and nobody there the demo answers", async () => {
  const known = await createModelRegistry(configOf({}), createProviders(), [await freePort()]);
  expect(known.found).toBeNull();
  expect(known.current().default_alias).toBe("demo");
});

test("our own port is not taken for a model's", async () => {
  const server = await serve();
  const config = { ...configOf({}), server: { port: portOf(server) } };
  expect((await createModelRegistry(config, createProviders(), [portOf(server)])).found).toBeNull();
});

test("what is believed says which keys were configured and under which name the model is known", async () => {
  const capabilities = { context_window: 32_000 };
  const models = {
    smart: { provider: "anthropic" as const, base_url: "http://127.0.0.1:9", model: "claude-opus-4-5", capabilities },
  };
  const known = await createModelRegistry(configOf(models), createProviders(), []);
  expect(known.current().models.get("smart")).toMatchObject({
    capabilities: { context_window: 32_000, supports_vision: true },
    believed: { known_as: "claude-opus-4-5", configured: ["context_window"] },
  });
});

test("a configured name that its server does not list is warned of at the start", async () => {
  const server = await serve({ models: ["qwen3:8b", "gemma3:4b"] });
  const known = await createModelRegistry(
    configOf({ home: { base_url: server.base_url, model: "quen3" } }),
    createProviders(),
    [],
  );
  const { lines } = await watch(known, (all) => all.some((line) => line.includes("model.not_listed")));
  expect(lines.join()).toContain(
    `The server ${server.base_url} does not list the model quen3 of [models.home]; it has qwen3:8b, gemma3:4b. Check the name.`,
  );
});

test.each(["qwen3", "QWEN3:8b", "gemma3"])("the name %s means a listed model", async (name) => {
  const server = await serve({ models: ["qwen3:8b", "gemma3-2026-01-01"] });
  const known = await createModelRegistry(
    configOf({ home: { base_url: server.base_url, model: name } }),
    createProviders(),
    [],
  );
  const settings = known.current().models.get("home");
  expect(settings && known.takeListed(settings, ["qwen3:8b", "gemma3-2026-01-01"])).toBeNull();
});

test("a configured server that is not there lets us start, and its model is taken up when it comes", async () => {
  const port = await freePort();
  const base_url = `http://127.0.0.1:${port}/v1`;
  const known = await createModelRegistry(configOf({ home: { base_url } }), createProviders(), []);
  expect(known.current().models.get("home")?.model).toBe("default");
  const coming = Promise.withResolvers<ModelServer>();
  const { breakers, lines } = await watch(known, (all) => {
    if (all.some((line) => line.includes("model.unreachable"))) {
      coming.resolve(serve({ port, models: ["llama3"] }));
    }
    return all.some((line) => line.includes("model.reachable"));
  });
  await coming.promise;
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ alias: "home" }, { alias: "home" }]);
  expect(breakers.isUp("home")).toBe(true);
  expect(known.current().models.get("home")?.model).toBe("llama3");
});
