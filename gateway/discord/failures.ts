import { DiscordAPIError, HTTPError, RateLimitError } from "discord.js";
import { describeError } from "../../src/lib/log.ts";
import type { ChannelFailure, ChannelResult } from "../channel_adapter.ts";

/** Discord's JSON error codes that mean something to us; the rest is judged by its HTTP status. */
const BY_CODE = new Map<number, ChannelFailure>([
  [10003, "channel_gone"],
  [10004, "channel_gone"],
  [10007, "channel_gone"],
  [10008, "message_gone"],
  [10013, "channel_gone"],
  [10062, "expired"],
  [10015, "expired"],
  [40060, "expired"],
  [50027, "expired"],
  [30046, "worn_out"],
  [40003, "rate_limited"],
  [40005, "too_large"],
  [50001, "forbidden"],
  [50013, "forbidden"],
  [50005, "forbidden"],
  [50007, "closed_dms"],
  [50278, "closed_dms"],
  [50083, "archived"],
  [160004, "thread_exists"],
  [160005, "locked"],
]);

/** What went wrong, in the words that all platforms share. Rethrows what is not the platform's. */
export function failureOf(error: unknown): { ok: false; reason: ChannelFailure; detail: string } {
  return { ok: false, reason: reasonOf(error), detail: describeError(error) };
}

/** Runs one request. */
export async function attempt<Value>(run: () => Promise<Value>): Promise<ChannelResult<Value>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    return failureOf(error);
  }
}

function reasonOf(error: unknown): ChannelFailure {
  if (error instanceof DiscordAPIError) {
    const known = BY_CODE.get(Number(error.code));
    return known ?? byStatus(error.status);
  }
  if (error instanceof HTTPError) return byStatus(error.status);
  if (error instanceof RateLimitError) return "rate_limited";
  return "unavailable";
}

function byStatus(status: number): ChannelFailure {
  if (status >= 500) return "unavailable";
  if (status === 429) return "rate_limited";
  if (status === 401 || status === 403) return "forbidden";
  if (status === 404) return "message_gone";
  if (status === 413) return "too_large";
  return "invalid";
}
