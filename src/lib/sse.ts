/** Server-sent events, as the WHATWG HTML standard, section 9.2, writes them. */

/**
 * One frame. `data` is JSON text, which holds no line break, so one `data:` line carries it; a frame with an id moves
 * the client's `Last-Event-ID`.
 */
export function encodeSseFrame(data: string, id: number | null): Buffer {
  if (/[\r\n]/.test(data)) throw new Error("The data of an SSE frame must be JSON text on one line.");
  return Buffer.from(id === null ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`);
}

/** Keeps proxies and clients from giving up on a quiet stream. */
export const SSE_HEARTBEAT = Buffer.from(": keep-alive\n\n");

/** Milliseconds between heartbeats; the contract promises at most five seconds of silence. */
export const SSE_HEARTBEAT_INTERVAL_MS = 5000;

/** Frames that may wait for one slow reader before it is cut off; it comes back with its last id and misses nothing. */
export const SSE_QUEUE_FRAMES_MAX = 1000;

/** No compression, no buffering, no caching: a frame is to arrive when it is written. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  connection: "keep-alive",
};
