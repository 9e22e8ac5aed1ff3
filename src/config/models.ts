import { listed } from "./field.ts";
import type { ModelTable, ProviderName } from "./model_settings.ts";
import type { SettingsTable } from "./settings.ts";

/** A model as it was set, with what follows from its provider. */
export interface ModelConfig extends Omit<ModelTable, "provider"> {
  provider: ProviderName;
}

export interface ModelChoice {
  /** Null when no model is set: a local server or the demo model stands in. */
  default: string | null;
  fallback: readonly string[];
  agent_model: string | null;
}

/** The variable that a vendor's own tools read the key from, and where its API is. */
const VENDORS = [
  { provider: "openai", variable: "OPENAI_API_KEY", base_url: "https://api.openai.com/v1" },
  { provider: "anthropic", variable: "ANTHROPIC_API_KEY", base_url: "https://api.anthropic.com" },
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Fills in providers, addresses and keys. With nothing set but a vendor's key, that vendor's model is the default. */
export function inferModels(table: SettingsTable["models"], env: Environment): Record<string, ModelConfig> {
  const models: Record<string, ModelConfig> = Object.create(null);
  for (const [alias, model] of Object.entries(table)) models[alias] = inferModel(model, env);
  if (Object.keys(models).length > 0) return models;
  const vendor = vendorOfKey(env);
  if (vendor !== undefined) models["default"] = inferModel(EMPTY_MODEL, env);
  return models;
}

const EMPTY_MODEL: ModelTable = {
  provider: null,
  base_url: null,
  api_key: null,
  model: null,
  effort: null,
  temperature: null,
  stall_timeout: 60,
  capabilities: {},
  price: null,
};

function inferModel(model: ModelTable, env: Environment): ModelConfig {
  const told = model.provider ?? (model.base_url === null ? vendorOfKey(env)?.provider : undefined);
  const provider = told ?? "openai-compatible";
  const vendor = VENDORS.find((one) => one.provider === provider);
  return {
    ...model,
    provider,
    base_url: model.base_url ?? vendor?.base_url ?? null,
    // A vendor's key goes to that vendor's protocol alone, never to whatever server an address names.
    api_key: model.api_key ?? (vendor === undefined ? null : env[vendor.variable] || null),
  };
}

function vendorOfKey(env: Environment): (typeof VENDORS)[number] | undefined {
  return VENDORS.find(({ variable }) => env[variable] !== undefined && env[variable] !== "");
}

/** Settles which alias is meant where; names of models that do not exist become problems. */
export function chooseModels(
  table: SettingsTable["model"],
  judge: string | null,
  models: Readonly<Record<string, ModelConfig>>,
  place: (at: readonly string[]) => string,
  problems: string[],
): ModelChoice {
  const aliases = Object.keys(models);
  const allowed = aliases.length === 0 ? "no model is set" : `allowed are ${listed(aliases, "and")}`;
  const check = (section: string, key: string, alias: string | null): void => {
    if (alias === null || Object.hasOwn(models, alias)) return;
    const named = `[${section}] ${key} names the model "${alias}"`;
    problems.push(`${place([section, key])}: ${named}, which is not set; ${allowed}.`);
  };
  check("model", "default", table.default);
  for (const alias of table.fallback) check("model", "fallback", alias);
  check("model", "agent_model", table.agent_model);
  check("approval", "judge", judge);
  const usual = Object.hasOwn(models, "default") ? "default" : (aliases[0] ?? null);
  return { default: table.default ?? usual, fallback: table.fallback, agent_model: table.agent_model };
}
