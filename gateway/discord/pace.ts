import { DefaultRestOptions, type RESTOptions } from "discord.js";

type MakeRequest = RESTOptions["makeRequest"];

/** Discord's limit of a bot over all routes; answers to interactions do not count. */
const DISCORD_LIMITS = { requests: 50, window_ms: 1000 };

/** Routes of interactions and of the messages that follow them, which the global limit does not hold for. */
const EXEMPT = /\/(?:interactions|webhooks)\/\d+\//;

/**
 * Keeps within Discord's global limit however unevenly requests travel. When a request is counted over there is not
 * known, only that it lies between its sending and its answer: so its place is free again one window after its answer.
 * The library's own limiter counts from the sending, and is refused when the first of a window travels long.
 */
export function paced(send: MakeRequest = DefaultRestOptions.makeRequest, limits = DISCORD_LIMITS): MakeRequest {
  let free = limits.requests;
  const waiting = new Set<() => void>();
  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  const takePlace = async (signal: AbortSignal | null | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    const place = Promise.withResolvers<void>();
    const take = (): void => place.resolve();
    const giveUp = (): void => place.reject(signal?.reason);
    waiting.add(take);
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      await place.promise;
    } finally {
      waiting.delete(take);
      signal?.removeEventListener("abort", giveUp);
    }
  };
  return async (url, init) => {
    if (EXEMPT.test(url)) return send(url, init);
    await takePlace(init.signal);
    try {
      return await send(url, init);
    } finally {
      setTimeout(release, limits.window_ms).unref();
    }
  };
}
