import type { Clock } from "../lib/clock.ts";

/** Failures that one address or one name may have within the window. */
export const LOGIN_FAILURES_MAX = 5;

export const LOGIN_WINDOW_MS = 300_000;

/** Addresses and names that are remembered; the oldest are forgotten first, so that memory stays bounded. */
const KEYS_MAX = 50_000;

export interface LoginAttempt {
  /** Gives the place back: a right answer does not use the budget. */
  succeed(): void;
}

export type LoginAdmission = { ok: true; attempt: LoginAttempt } | { ok: false; retry_after_s: number };

/** Slows guessing down. */
export interface LoginLimiter {
  /** Takes a place under each key before the password is checked, so that parallel guesses count as well. */
  begin(keys: readonly string[]): LoginAdmission;
}

/** A limiter that allows `failures_max` failures a key within `window_ms`. */
export function createLoginLimiter(
  clock: Clock,
  failures_max: number = LOGIN_FAILURES_MAX,
  window_ms: number = LOGIN_WINDOW_MS,
): LoginLimiter {
  const failures = new Map<string, number[]>();

  const recent = (key: string): number[] => {
    const oldest = clock.now() - window_ms;
    const times = (failures.get(key) ?? []).filter((time) => time > oldest);
    if (times.length === 0) failures.delete(key);
    else failures.set(key, times);
    return times;
  };

  const add = (key: string, time: number): void => {
    const times = [...recent(key), time];
    failures.delete(key);
    failures.set(key, times);
    const oldest = failures.size > KEYS_MAX ? failures.keys().next().value : undefined;
    if (oldest !== undefined) failures.delete(oldest);
  };

  const remove = (key: string, time: number): void => {
    const times = recent(key);
    const index = times.indexOf(time);
    if (index >= 0) failures.set(key, times.toSpliced(index, 1));
  };

  return {
    begin(keys) {
      const full = keys.map(recent).filter((times) => times.length >= failures_max);
      if (full.length > 0) {
        const free_at = Math.max(...full.map((times) => (times.at(-failures_max) ?? 0) + window_ms));
        return { ok: false, retry_after_s: Math.max(1, Math.ceil((free_at - clock.now()) / 1000)) };
      }
      const time = clock.now();
      for (const key of keys) add(key, time);
      return { ok: true, attempt: { succeed: () => void keys.map((key) => remove(key, time)) } };
    },
  };
}
