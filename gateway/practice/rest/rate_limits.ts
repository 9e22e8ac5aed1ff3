import { createHash } from "node:crypto";
import type { JsonObject } from "../../../src/protocol/json.ts";

/** So many requests in so many milliseconds. */
export interface RateLimit {
  limit: number;
  window_ms: number;
}

/** Limits by route. The real numbers are not published and vary, so tests set them. */
export interface RateLimits {
  /** For routes without an entry of their own. */
  default?: RateLimit;
  /** By method and template, such as `POST /channels/:channel_id/messages`. */
  routes?: Readonly<Record<string, RateLimit>>;
  /** Requests a second over all routes but those of interactions; 50 on the real service. */
  global_per_second?: number;
}

/** For tests that ask about something else: never in the way. */
export const GENEROUS_RATE_LIMITS: RateLimits = {
  default: { limit: 10_000, window_ms: 1000 },
  routes: {},
  global_per_second: 10_000,
};

const DEFAULT_LIMIT: RateLimit = { limit: 50, window_ms: 1000 };
const GLOBAL_PER_SECOND = 50;

/** Edits of messages older than an hour share a second, smaller bucket. Its size is unpublished; people report this. */
export const LATE_EDITS_ROUTE = "PATCH /channels/:channel_id/messages/:message_id (older than an hour)";
const LATE_EDITS: RateLimit = { limit: 3, window_ms: 20_000 };

/** What is commonly seen on the real service: five messages, and five edits, in five seconds and channel. */
const DEFAULT_ROUTES: Readonly<Record<string, RateLimit>> = {
  [LATE_EDITS_ROUTE]: LATE_EDITS,
  "POST /channels/:channel_id/messages": { limit: 5, window_ms: 5000 },
  "PATCH /channels/:channel_id/messages/:message_id": { limit: 5, window_ms: 5000 },
  "POST /webhooks/:application_id/:token": { limit: 5, window_ms: 2000 },
  "PATCH /webhooks/:application_id/:token/messages/:message_id": { limit: 5, window_ms: 2000 },
};

/** 401, 403 and 429 answers in ten minutes before Discord shuts the address out. */
export const INVALID_REQUESTS_MAX = 10_000;
const INVALID_WINDOW_MS = 10 * 60_000;

export type Verdict =
  | { allowed: true; headers: Record<string, string> }
  | { allowed: false; headers: Record<string, string>; body: JsonObject };

export interface RateLimiter {
  /** Counts a request. `major` are the ids that split a route's bucket: channel, guild, webhook. */
  take(route: string, major: string, countsGlobally: boolean): Verdict;
  /** Counts an answer's status; shared 429s are not counted by callers. */
  countStatus(status: number): void;
  /** Answers of 401, 403 and 429 in the last ten minutes. */
  invalidCount(): number;
}

interface Bucket {
  used: number;
  resets_at: number;
}

export function createRateLimiter(limits: RateLimits, now: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const invalid: number[] = [];
  const globalLimit = { limit: limits.global_per_second ?? GLOBAL_PER_SECOND, window_ms: 1000 };
  const invalidCount = (): number => {
    while (invalid.length > 0 && (invalid[0] ?? 0) < now() - INVALID_WINDOW_MS) invalid.shift();
    return invalid.length;
  };
  return {
    take(route, major, countsGlobally) {
      if (invalidCount() >= INVALID_REQUESTS_MAX) return shutOut();
      const limit = limits.routes?.[route] ?? routesBehindDefault(limits)[route] ?? limits.default ?? DEFAULT_LIMIT;
      if (countsGlobally) {
        const global = count(buckets, "global", globalLimit, now());
        if (!global.allowed) return refusal(global.wait_ms, "global", {});
      }
      const counted = count(buckets, `${route} ${major}`, limit, now());
      const headers = bucketHeaders(route, limit, counted, now());
      return counted.allowed ? { allowed: true, headers } : refusal(counted.wait_ms, "user", headers);
    },
    countStatus(status) {
      if (status === 401 || status === 403 || status === 429) invalid.push(now());
    },
    invalidCount,
  };
}

// A caller who sets a default means it for all routes that they do not name.
function routesBehindDefault(limits: RateLimits): Readonly<Record<string, RateLimit>> {
  return limits.default === undefined ? DEFAULT_ROUTES : {};
}

interface Counted {
  allowed: boolean;
  remaining: number;
  wait_ms: number;
}

function count(buckets: Map<string, Bucket>, key: string, limit: RateLimit, now: number): Counted {
  let bucket = buckets.get(key);
  if (bucket === undefined || now >= bucket.resets_at) {
    bucket = { used: 0, resets_at: now + limit.window_ms };
    buckets.set(key, bucket);
  }
  const allowed = bucket.used < limit.limit;
  if (allowed) bucket.used += 1;
  return { allowed, remaining: Math.max(0, limit.limit - bucket.used), wait_ms: bucket.resets_at - now };
}

function bucketHeaders(route: string, limit: RateLimit, counted: Counted, now: number): Record<string, string> {
  return {
    "x-ratelimit-limit": String(limit.limit),
    "x-ratelimit-remaining": String(counted.remaining),
    "x-ratelimit-reset": ((now + counted.wait_ms) / 1000).toFixed(3),
    "x-ratelimit-reset-after": (counted.wait_ms / 1000).toFixed(3),
    "x-ratelimit-bucket": createHash("sha256").update(route).digest("hex").slice(0, 32),
  };
}

/** The answer to one request too many. */
export function refusal(
  waitMs: number,
  scope: "user" | "shared" | "global",
  headers: Record<string, string>,
): Verdict & { allowed: false } {
  const seconds = waitMs / 1000;
  const isGlobal = scope === "global";
  return {
    allowed: false,
    headers: {
      ...headers,
      "retry-after": String(Math.max(1, Math.ceil(seconds))),
      "x-ratelimit-scope": scope,
      ...(isGlobal ? { "x-ratelimit-global": "true" } : {}),
    },
    body: { message: "You are being rate limited.", retry_after: Number(seconds.toFixed(3)), global: isGlobal },
  };
}

function shutOut(): Verdict {
  return {
    allowed: false,
    headers: { "retry-after": "3600" },
    body: { message: "You are being blocked from accessing our API temporarily.", code: 0 },
  };
}
