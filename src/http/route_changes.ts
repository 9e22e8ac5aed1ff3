import type { ChannelRoute } from "../protocol/channel.ts";

export type RouteChange = { kind: "created" | "removed"; route: ChannelRoute };

/** Tells open channel streams that a workstream is shown in one more place, or in one less. */
export interface RouteChanges {
  publish(change: RouteChange): void;
  subscribe(reader: (change: RouteChange) => void): () => void;
}

export function createRouteChanges(): RouteChanges {
  const readers = new Set<(change: RouteChange) => void>();
  return {
    publish(change) {
      for (const reader of readers) reader(change);
    },
    subscribe(reader) {
      readers.add(reader);
      return () => readers.delete(reader);
    },
  };
}
