import type { Clock } from "../lib/clock.ts";

/** Buckets that are remembered. A forgotten one starts full again, so the oldest go first. */
const BUCKETS_MAX = 50_000;

/** Token buckets by principal. */
export interface RateLimit {
  /** Takes one token. Answers 0, or the seconds until there is one again. */
  take(key: string): number;
}

export function createRateLimit(clock: Clock, limit: { requests_per_second: number; burst: number }): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(key) {
      const now = clock.now();
      const bucket = buckets.get(key) ?? { tokens: limit.burst, at: now };
      const gained = (Math.max(0, now - bucket.at) / 1000) * limit.requests_per_second;
      bucket.tokens = Math.min(limit.burst, bucket.tokens + gained);
      bucket.at = now;
      buckets.delete(key);
      buckets.set(key, bucket);
      const oldest = buckets.size > BUCKETS_MAX ? buckets.keys().next().value : undefined;
      if (oldest !== undefined) buckets.delete(oldest);
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / limit.requests_per_second);
      bucket.tokens -= 1;
      return 0;
    },
  };
}
