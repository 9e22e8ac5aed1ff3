import type { ModelRegistry } from "../agent/models.ts";
import { keepProbing, probeModel, type ProbeDependencies } from "../agent/probe.ts";
import type { Config } from "../config/load.ts";
import type { ModelConfig } from "../config/models.ts";
import type { ModelSettings, Provider } from "../contracts/provider.ts";
import { capabilitiesOf, knownAs } from "../providers/capabilities.ts";
import { priceOf } from "../providers/prices.ts";

/** Where people run models on their own machine, as the programs come: Ollama, LM Studio, vLLM, llama.cpp. */
const LOCAL_PORTS = [11434, 1234, 8000, 8080];

/** They all speak chat completions. */
const LOCAL_PROVIDER = "openai-compatible";

/** A local server answers at once or is not there. */
const DISCOVERY_TIMEOUT_MS = 500;

/** The start waits so long for a configured server to name its model. */
const LISTING_TIMEOUT_MS = 3000;

/** Names that a warning lists. */
const LISTED_NAMES_MAX = 10;

/** What stands for the name of a model whose server has not said yet what it has. */
const UNNAMED = "default";

type ModelsConfig = Pick<Config, "models" | "model"> & { server: Pick<Config["server"], "port"> };

/** The models of a server, as they are known by now. */
export interface KnownModels {
  current(): ModelRegistry;
  /** The address of the local server that was found because none was configured. */
  found: string | null;
  /**
   * Takes in which models a server has: one that was configured without a name gets the first. Answers a warning for
   * the person who configured a name that is not there.
   */
  takeListed(settings: ModelSettings, listed: readonly string[]): string | null;
}

/**
 * The models that this server can call. With none configured, a local server on a usual port is looked for; with none
 * there either, the demo answers and says what it is. A configured server that is not there is waited for by nobody.
 */
export async function createModelRegistry(
  config: ModelsConfig,
  providers: ReadonlyMap<string, Provider>,
  local_ports: readonly number[] = LOCAL_PORTS,
): Promise<KnownModels> {
  const configured = Object.entries(config.models);
  const found = await Promise.all(
    configured.map(async ([alias, model]) => [alias, await settingsOf(alias, model, providers)] as const),
  );
  const models = new Map<string, ModelSettings>(found);
  if (models.size > 0) {
    const { fallback, agent_model } = config.model;
    const default_alias = config.model.default ?? [...models.keys()][0] ?? "default";
    let registry: ModelRegistry = { default_alias, fallback, agent_alias: agent_model, models };
    return {
      current: () => registry,
      found: null,
      takeListed({ alias, base_url }, listed) {
        const model = config.models[alias];
        const known = registry.models.get(alias);
        if (model === undefined || known === undefined) return null;
        if (model.model !== null) {
          return isListed(model.model, listed) ? null : notListed(alias, model.model, base_url, listed);
        }
        const [name] = listed;
        if (name === undefined || listed.includes(known.model)) return null;
        registry = { ...registry, models: new Map(registry.models).set(alias, namedSettings(alias, model, name)) };
        return null;
      },
    };
  }
  const local = await findLocalServer(config.server.port, providers.get(LOCAL_PROVIDER), local_ports);
  const settings = local ?? demoSettings();
  models.set(settings.alias, settings);
  const registry = { default_alias: settings.alias, fallback: [], agent_alias: null, models };
  return { current: () => registry, found: local === null ? null : local.base_url, takeListed: () => null };
}

/**
 * Looks once at every model and from then on at those that fail, until the signal is aborted. What people should know
 * goes to the log.
 */
export async function watchModels(
  models: KnownModels,
  dependencies: ProbeDependencies,
  signal: AbortSignal,
): Promise<void> {
  const known = (): ModelSettings[] => [...models.current().models.values()];
  const take = (settings: ModelSettings, listed: readonly string[]): void => {
    const warning = models.takeListed(settings, listed);
    if (warning !== null) dependencies.log.warn("model.not_listed", { alias: settings.alias, message: warning });
  };
  await Promise.all(
    known().map(async (settings) => {
      const listed = await probeModel(settings, dependencies, signal);
      if (listed !== null) take(settings, listed);
    }),
  );
  await keepProbing(known, dependencies, signal, take);
}

/**
 * Servers list a model with its version or date behind the name that people use, and brokers with the vendor before
 * it.
 */
function isListed(model: string, listed: readonly string[]): boolean {
  if (listed.length === 0) return true;
  const name = model.toLowerCase();
  return listed
    .map((one) => one.toLowerCase())
    .some((one) => one === name || one.startsWith(`${name}-`) || one.startsWith(`${name}:`));
}

function notListed(alias: string, model: string, base_url: string, listed: readonly string[]): string {
  const more = listed.length > LISTED_NAMES_MAX ? ` and ${listed.length - LISTED_NAMES_MAX} more` : "";
  const names = `${listed.slice(0, LISTED_NAMES_MAX).join(", ")}${more}`;
  return `The server ${base_url} does not list the model ${model} of [models.${alias}]; it has ${names}. Check the name.`;
}

async function settingsOf(
  alias: string,
  model: ModelConfig,
  providers: ReadonlyMap<string, Provider>,
): Promise<ModelSettings> {
  if (model.model !== null) return namedSettings(alias, model, model.model);
  const listed = await firstListed(
    providers.get(model.provider),
    model.base_url ?? "",
    model.api_key ?? "",
    LISTING_TIMEOUT_MS,
  );
  return namedSettings(alias, model, listed ?? UNNAMED);
}

function namedSettings(alias: string, model: ModelConfig, name: string): ModelSettings {
  const { provider } = model;
  return {
    alias,
    provider,
    model: name,
    base_url: model.base_url ?? "",
    api_key: model.api_key ?? "",
    capabilities: capabilitiesOf(provider, name, model.capabilities),
    believed: { known_as: knownAs(name), configured: Object.keys(model.capabilities) },
    effort: model.effort ?? "",
    temperature: model.temperature,
    price: model.price ?? priceOf(name),
    stall_timeout_ms: model.stall_timeout * 1000,
  };
}

async function firstListed(
  provider: Provider | undefined,
  base_url: string,
  api_key: string,
  timeout_ms: number,
): Promise<string | null> {
  if (provider === undefined || base_url === "") return null;
  const listed = await provider.listModels({ base_url, api_key }, AbortSignal.timeout(timeout_ms));
  return listed?.[0] ?? null;
}

// Our own port is not asked: a server that waits for itself would find nobody.
async function findLocalServer(
  own_port: number,
  provider: Provider | undefined,
  ports: readonly number[],
): Promise<ModelSettings | null> {
  const found = await Promise.all(
    ports
      .filter((port) => port !== own_port)
      .map(async (port) => {
        const base_url = `http://127.0.0.1:${port}/v1`;
        const model = await firstListed(provider, base_url, "", DISCOVERY_TIMEOUT_MS);
        return model === null ? null : { base_url, model };
      }),
  );
  const first = found.find((server) => server !== null);
  if (first === undefined || first === null) return null;
  const capabilities = capabilitiesOf(LOCAL_PROVIDER, first.model);
  const believed = { known_as: knownAs(first.model), configured: [] };
  const common = { believed, api_key: "", effort: "", temperature: null, price: null, stall_timeout_ms: 60_000 };
  return { alias: "local", provider: LOCAL_PROVIDER, ...first, capabilities, ...common };
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
