import type { ModelRegistry } from "../agent/models.ts";
import type { Config } from "../config/load.ts";
import type { ModelConfig } from "../config/models.ts";
import type { ModelSettings, Provider } from "../contracts/provider.ts";
import { capabilitiesOf } from "../providers/capabilities.ts";
import { priceOf } from "../providers/prices.ts";

/** Where people run models on their own machine, as the programs come: Ollama, LM Studio, vLLM, llama.cpp. */
const LOCAL_SERVERS = [11434, 1234, 8000, 8080].map((port) => ({ port, base_url: `http://127.0.0.1:${port}/v1` }));

/** A local server answers at once or is not there. */
const DISCOVERY_TIMEOUT_MS = 500;

/**
 * The models that this server can call. With none configured, a local server on a usual port is looked for; with none there either, the
 * demo answers and says what it is.
 */
export async function createModelRegistry(
  config: Config,
  providers: ReadonlyMap<string, Provider>,
): Promise<{ registry: ModelRegistry; found: string | null }> {
  const models = new Map<string, ModelSettings>();
  for (const [alias, model] of Object.entries(config.models)) {
    models.set(alias, await settingsOf(alias, model, providers));
  }
  if (models.size > 0) {
    const { fallback, agent_model } = config.model;
    const default_alias = config.model.default ?? [...models.keys()][0] ?? "default";
    return { registry: { default_alias, fallback, agent_alias: agent_model, models }, found: null };
  }
  const local = await findLocalServer(config.server.port, providers);
  const settings = local ?? demoSettings();
  models.set(settings.alias, settings);
  const registry = { default_alias: settings.alias, fallback: [], agent_alias: null, models };
  return { registry, found: local === null ? null : local.base_url };
}

async function settingsOf(
  alias: string,
  model: ModelConfig,
  providers: ReadonlyMap<string, Provider>,
): Promise<ModelSettings> {
  const { provider } = model;
  const base_url = model.base_url ?? "";
  const api_key = model.api_key ?? "";
  const name = model.model ?? (await firstListed(providers.get(provider), base_url, api_key)) ?? "default";
  return {
    alias,
    provider,
    model: name,
    base_url,
    api_key,
    capabilities: capabilitiesOf(provider, name, model.capabilities),
    effort: model.effort ?? "",
    temperature: model.temperature,
    price: model.price ?? priceOf(name),
    stall_timeout_ms: model.stall_timeout * 1000,
  };
}

async function firstListed(provider: Provider | undefined, base_url: string, api_key: string): Promise<string | null> {
  if (provider === undefined || base_url === "") return null;
  const listed = await provider.listModels({ base_url, api_key }, AbortSignal.timeout(DISCOVERY_TIMEOUT_MS));
  return listed?.[0] ?? null;
}

// Our own port is not asked: a server that waits for itself would find nobody.
async function findLocalServer(own_port: number, providers: ReadonlyMap<string, Provider>): Promise<ModelSettings | null> {
  const provider = "openai-compatible";
  const found = await Promise.all(
    LOCAL_SERVERS.filter(({ port }) => port !== own_port).map(async ({ base_url }) => {
      if (!(await answers(base_url))) return null;
      const model = await firstListed(providers.get(provider), base_url, "");
      return model === null ? null : { base_url, model };
    }),
  );
  const first = found.find((server) => server !== null);
  if (first === undefined || first === null) return null;
  const { base_url, model } = first;
  const capabilities = capabilitiesOf(provider, model);
  const common = { api_key: "", effort: "", temperature: null, price: null, stall_timeout_ms: 60_000 };
  return { alias: "local", provider, model, base_url, capabilities, ...common };
}

// A plain request first: the vendor's client is worth loading only when somebody is there.
async function answers(base_url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${base_url}/models`, { signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) });
    return answer.ok;
  } catch {
    // Nobody listens there, or not with a model: the usual case.
    return false;
  }
}

function demoSettings(): ModelSettings {
  return {
    alias: "demo",
    provider: "demo",
    model: "demo",
    base_url: "",
    api_key: "",
    capabilities: capabilitiesOf("demo", "demo"),
    effort: "",
    temperature: null,
    price: null,
    stall_timeout_ms: 60_000,
  };
}
