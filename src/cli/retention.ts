import { type Clock, DAY_MS } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { SqliteStore } from "../store/index.ts";

/**
 * Removes conversations that nobody touched for `retention_days`, now and once a day, until the signal is aborted;
 * none for 0 days. What is named, runs or waits for a person stays. A failure is logged and tried again the next day.
 */
export async function keepRetention(
  store: Pick<SqliteStore, "prune">,
  retention_days: number,
  { clock, log }: { clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  if (retention_days === 0) return;
  while (!signal.aborted) {
    try {
      const { removed } = await store.prune({ retention_days, now: clock.now() });
      if (removed > 0) log.info("retention.removed", { removed });
    } catch (error) {
      log.error("retention.failed", { error });
    }
    await clock.sleep(DAY_MS, signal).catch(() => {});
  }
}
