import type { Clock } from "../src/lib/clock.ts";
import type { ChannelRoute } from "../src/protocol/channel.ts";
import { createRecent } from "./recent.ts";
import type { ServerClient } from "./server_client.ts";
import type { ServerAnswer } from "./server_request.ts";

/** Which workstream is shown where, as the server keeps it, with what was asked lately at hand. */
export interface RouteBook {
  /** Null where nothing is shown. */
  find(channel_id: string): Promise<ServerAnswer<ChannelRoute | null>>;
  /** The same, asked afresh. */
  refresh(channel_id: string): Promise<ServerAnswer<ChannelRoute | null>>;
  remember(route: ChannelRoute): void;
  forget(channel_id: string): void;
}

const REMEMBERED_MAX = 5000;
/** Other people's threads can be busy; another gateway may make a route meanwhile. */
const ABSENT_MS = 10_000;

export function createRouteBook(server: ServerClient, clock: Clock): RouteBook {
  const present = createRecent<ChannelRoute>(REMEMBERED_MAX);
  const absent = createRecent<number>(REMEMBERED_MAX);
  const refresh: RouteBook["refresh"] = async (channel_id) => {
    const answer = await server.route(channel_id);
    if (answer.ok) {
      present.set(channel_id, answer.value);
      return answer;
    }
    if (answer.status !== 404) return answer;
    present.delete(channel_id);
    absent.set(channel_id, clock.now());
    return { ok: true, value: null };
  };
  return {
    refresh,
    async find(channel_id) {
      const known = present.get(channel_id);
      if (known !== undefined) return { ok: true, value: known };
      const missed = absent.get(channel_id);
      if (missed !== undefined && clock.now() - missed < ABSENT_MS) return { ok: true, value: null };
      return refresh(channel_id);
    },
    remember(route) {
      present.set(route.channel_id, route);
      absent.delete(route.channel_id);
    },
    forget(channel_id) {
      present.delete(channel_id);
      absent.delete(channel_id);
    },
  };
}

/**
 * A DM shows its person's own workstream; answers to replies about another one come by a place of this name beside
 * it.
 */
export function sidePlaceId(dm_channel_id: string, ws_id: string): string {
  return `dm.${dm_channel_id}.${ws_id}`;
}

/** The channel on the platform behind a route's `channel_id`, and whether it is a place beside a DM's own. */
export function platformChannel(channel_id: string): { channel_id: string; beside: boolean } {
  const match = /^dm\.(\d+)\.[0-9a-f]{32}$/.exec(channel_id);
  return match?.[1] === undefined ? { channel_id, beside: false } : { channel_id: match[1], beside: true };
}
