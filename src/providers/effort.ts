import type { ModelSettings } from "../contracts/provider.ts";

/** From the least to the most thinking. */
const LADDER = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * The effort to ask for: the one in the settings, else the next higher one that the model knows, else its highest. Null
 * when nothing is set or the model has no such setting.
 */
export function effortOf(settings: ModelSettings): string | null {
  const known = settings.capabilities.effort_levels;
  if (settings.effort === "" || known.length === 0) return null;
  if (known.includes(settings.effort)) return settings.effort;
  const wanted = LADDER.indexOf(settings.effort);
  if (wanted < 0) return null;
  const ranked = LADDER.filter((level) => known.includes(level));
  return ranked.find((level) => LADDER.indexOf(level) > wanted) ?? ranked.at(-1) ?? null;
}

/** The temperature to ask for. Models that can think take one only while they do not. */
export function temperatureOf(settings: ModelSettings): number | null {
  if (!settings.capabilities.supports_temperature) return null;
  const thinks = settings.capabilities.effort_levels.includes("none") && !["", "none"].includes(settings.effort);
  return thinks ? null : settings.temperature;
}
