import type { ModelSettings } from "../contracts/provider.ts";
import type { Usage } from "../protocol/message.ts";

/**
 * The models of this server by alias. Replaced as a whole when config or discovery says so; settings are never
 * changed in place.
 */
export interface ModelRegistry {
  default_alias: string;
  /** Tried in order when a model fails. */
  fallback: readonly string[];
  /** What sub-agents use; null for their parent's. */
  agent_alias: string | null;
  models: ReadonlyMap<string, ModelSettings>;
}

/** The model of a workstream, then its fallbacks. Throws when the registry holds none at all. */
export function modelChain(registry: ModelRegistry, alias: string | null): ModelSettings[] {
  const first = registry.models.get(alias ?? registry.default_alias) ?? registry.models.get(registry.default_alias);
  if (first === undefined) {
    throw new Error("There is no model at all; the configuration must leave at least the demo model.");
  }
  const others = registry.fallback
    .map((name) => registry.models.get(name))
    .filter((settings) => settings !== undefined && settings.alias !== first.alias);
  return [first, ...others.filter((settings) => settings !== undefined)];
}

/** USD for a usage, or undefined when no price is known. */
export function costOf(settings: ModelSettings, usage: Usage): number | undefined {
  if (settings.price === null) return undefined;
  const cache_read = usage.cache_read_tokens ?? 0;
  const cache_write = usage.cache_creation_tokens ?? 0;
  const plain = Math.max(0, usage.prompt_tokens - cache_read - cache_write);
  const { input, output, cache_read: read_price, cache_write: write_price } = settings.price;
  const total = plain * input + usage.completion_tokens * output + cache_read * read_price + cache_write * write_price;
  return total / 1_000_000;
}

/** USD for what several models used; undefined when a price is missing, since the rest would pass for the whole. */
export function costOfAll(registry: ModelRegistry, by_model: ReadonlyMap<string, Usage>): number | undefined {
  let sum = 0;
  for (const [alias, usage] of by_model) {
    const settings = registry.models.get(alias);
    const cost = settings === undefined ? undefined : costOf(settings, usage);
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}
