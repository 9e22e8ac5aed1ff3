import type { SseConnection } from "./sse_hub.ts";

/**
 * Streams that one credential may have open: more than any client needs, and too few to take the place of all others.
 */
export const STREAMS_MAX = 1000;

/** Counts the open streams of each credential. */
export interface StreamQuota {
  /** Whether the credential may open one more. */
  allows(credential_id: string): boolean;
  /** Counts a stream until it is closed. */
  count(credential_id: string, connection: SseConnection): void;
}

export function createStreamQuota(streams_max: number = STREAMS_MAX): StreamQuota {
  const open = new Map<string, number>();
  const add = (credential_id: string, change: number): void => {
    const count = (open.get(credential_id) ?? 0) + change;
    if (count > 0) open.set(credential_id, count);
    else open.delete(credential_id);
  };
  return {
    allows: (credential_id) => (open.get(credential_id) ?? 0) < streams_max,
    count(credential_id, connection) {
      add(credential_id, 1);
      connection.onClose(() => add(credential_id, -1));
    },
  };
}
