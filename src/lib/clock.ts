/** Time as a dependency, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `milliseconds`, or rejects with the signal's reason. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep(milliseconds, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  },
};

export const DAY_MS = 24 * 3600_000;

/** ISO 8601 with milliseconds and Z: the form of every time in the store and on the wire. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

/** Today in UTC, such as `2026-01-31`. */
export function utcDay(clock: Clock): string {
  return timestamp(clock).slice(0, 10);
}

/** The timestamp at which a day in UTC begins. */
export function startOfUtcDay(day: string): string {
  return `${day}T00:00:00.000Z`;
}
