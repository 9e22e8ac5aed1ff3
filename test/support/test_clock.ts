import type { Clock } from "../../src/lib/clock.ts";

/** A clock that nobody waits for: each sleep is written down and moves the time on. */
export interface TestClock extends Clock {
  /** Milliseconds of each sleep so far. */
  readonly slept: readonly number[];
  /** Moves the time on. */
  advance(milliseconds: number): void;
  /** From now on sleeps last until their signal is aborted; resolves when the next one has begun. */
  hold(): Promise<void>;
}

/** Starts at a fixed moment. */
export function createTestClock(): TestClock {
  let now = Date.parse("2026-01-01T12:00:00.000Z");
  let onHeld: (() => void) | null = null;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      onHeld = resolve;
      return promise;
    },
    sleep(milliseconds, signal) {
      slept.push(milliseconds);
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      if (onHeld === null || signal === undefined) {
        now += milliseconds;
        return new Promise((resolve) => setImmediate(resolve));
      }
      onHeld();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
      );
    },
  };
}
