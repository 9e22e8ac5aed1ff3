import type { ModelSettings, Provider } from "../contracts/provider.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Breakers } from "./breaker.ts";

/** Between two looks at models that failed: people notice a model that is back at their next message. */
const PROBE_INTERVAL_MS = 5000;

/** A server that lists its models no faster than this is no use to a turn either. */
const PROBE_TIMEOUT_MS = 5000;

/** What probing works with. */
export interface ProbeDependencies {
  providers: ReadonlyMap<string, Provider>;
  breakers: Breakers;
  clock: Clock;
  log: Log;
}

/**
 * Asks a model's server which models it has, and tells the breakers whether it answered. Costs no tokens. Resolves
 * with the names; null when there was no answer in time. A model that is no server's (the demo) counts as there.
 */
export async function probeModel(
  settings: ModelSettings,
  { providers, breakers, log }: ProbeDependencies,
  signal: AbortSignal,
): Promise<string[] | null> {
  const provider = providers.get(settings.provider);
  if (provider === undefined || settings.base_url === "") return [settings.model];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
  const listed = await provider.listModels(settings, limit);
  if (signal.aborted) return listed;
  const was_up = breakers.isUp(settings.alias);
  breakers.probed(settings.alias, listed !== null);
  if (was_up !== breakers.isUp(settings.alias)) {
    log.info(listed === null ? "model.unreachable" : "model.reachable", { alias: settings.alias });
  }
  return listed;
}

/**
 * Probes models that failed or were not there until the signal is aborted; healthy ones are left alone, since real
 * calls say enough of them. `onListed` hears what a server has that is back.
 */
export async function keepProbing(
  models: () => Iterable<ModelSettings>,
  dependencies: ProbeDependencies,
  signal: AbortSignal,
  onListed: (settings: ModelSettings, listed: readonly string[]) => void = () => {},
): Promise<void> {
  const { breakers, clock } = dependencies;
  while (!signal.aborted) {
    const doubtful = [...models()].filter(({ alias }) => breakers.wantsProbe(alias));
    await Promise.all(
      doubtful.map(async (settings) => {
        const listed = await probeModel(settings, dependencies, signal);
        if (listed !== null) onListed(settings, listed);
      }),
    );
    await clock.sleep(PROBE_INTERVAL_MS, signal).catch(() => {}); // Aborted: the loop ends.
  }
}
