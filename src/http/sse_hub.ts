import type { ServerResponse } from "node:http";
import { SSE_HEADERS, SSE_HEARTBEAT, SSE_HEARTBEAT_INTERVAL_MS, SSE_QUEUE_FRAMES_MAX } from "../lib/sse.ts";
import { SECURITY_HEADERS } from "./security.ts";

/**
 * A write to hundreds of readers takes milliseconds. As long as one took, the next waits, so that streams never have more
 * than half of the process; what comes meanwhile leaves together. A rest shorter than a timer's step is not worth one.
 */
const REST_MS_MIN = 1;
const REST_MS_MAX = 50;

/** One reader of a stream. */
export interface SseConnection {
  readonly closed: boolean;
  /** Queues a whole frame; what is queued in one tick leaves in one write. A reader that lets too much wait is cut off. */
  write(frame: Buffer): void;
  /** Resolves when the reader has taken what was written, or is gone. */
  ready(): Promise<void>;
  /** Called once, at once when it is closed already. */
  onClose(callback: () => void): void;
  close(): void;
}

/** All open streams: one heartbeat for all, one flush a tick for all. */
export interface SseHub {
  readonly size: number;
  /** Answers with the head of a stream. `stillAllowed` is asked at each heartbeat; a no ends the stream. */
  open(response: ServerResponse, stillAllowed: () => Promise<boolean>): SseConnection;
  closeAll(): void;
}

interface Reader extends SseConnection {
  flush(batches: BatchMemory): void;
  beat(): void;
  stillAllowed: () => Promise<boolean>;
}

export function createSseHub(): SseHub {
  const readers = new Set<Reader>();
  let waiting: Reader[] = [];
  let heartbeat: NodeJS.Timeout | undefined;
  let resting_until = 0;

  const flushAll = (): void => {
    const batches = createBatchMemory();
    const due = waiting;
    waiting = [];
    const started = performance.now();
    for (const reader of due) reader.flush(batches);
    const ended = performance.now();
    resting_until = ended + Math.min(ended - started, REST_MS_MAX);
  };

  const schedule = (reader: Reader): void => {
    if (waiting.push(reader) > 1) return;
    const rest = resting_until - performance.now();
    if (rest < REST_MS_MIN) process.nextTick(flushAll);
    else setTimeout(flushAll, rest);
  };

  const forget = (reader: Reader): void => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
  };

  return {
    get size() {
      return readers.size;
    },
    open(response, stillAllowed) {
      const reader = createReader(response, stillAllowed, schedule, forget);
      if (reader.closed) return reader;
      readers.add(reader);
      heartbeat ??= setInterval(() => readers.forEach(beat), SSE_HEARTBEAT_INTERVAL_MS).unref();
      return reader;
    },
    closeAll() {
      for (const reader of readers) reader.close();
    },
  };
}

function beat(reader: Reader): void {
  reader.beat();
  reader.stillAllowed().then(
    (allowed) => {
      if (!allowed) reader.close();
    },
    // Whoever cannot be asked for rights has none; the client comes back and learns why.
    () => reader.close(),
  );
}

function createReader(
  response: ServerResponse,
  stillAllowed: () => Promise<boolean>,
  schedule: (reader: Reader) => void,
  forget: (reader: Reader) => void,
): Reader {
  let queue: Buffer[] = [];
  let scheduled = false;
  let blocked = false;
  let closed = false;
  const closings: (() => void)[] = [];
  const readies: (() => void)[] = [];

  const end = (cut: boolean): void => {
    if (closed) return;
    closed = true;
    queue = [];
    forget(reader);
    if (cut) response.destroy();
    else response.end();
    for (const callback of [...closings, ...readies]) callback();
  };

  const send = (batches: BatchMemory): void => {
    if (closed || blocked || queue.length === 0) return;
    const batch = queue;
    queue = [];
    blocked = !response.write(batches.join(batch));
    if (!blocked) readies.splice(0).forEach((resolve) => resolve());
  };

  const reader: Reader = {
    stillAllowed,
    get closed() {
      return closed;
    },
    write(frame) {
      if (closed) return;
      queue.push(frame);
      if (queue.length > SSE_QUEUE_FRAMES_MAX) {
        if (blocked) return end(true);
        send(createBatchMemory());
      }
      if (scheduled || blocked) return;
      scheduled = true;
      schedule(reader);
    },
    flush(batches) {
      scheduled = false;
      send(batches);
    },
    beat() {
      if (!blocked) reader.write(SSE_HEARTBEAT);
    },
    ready() {
      if (closed || (!blocked && queue.length === 0)) return Promise.resolve();
      return new Promise((resolve) => readies.push(resolve));
    },
    onClose(callback) {
      if (closed) callback();
      else closings.push(callback);
    },
    close: () => end(false),
  };

  if (response.destroyed || response.socket?.destroyed === true) {
    end(true);
    return reader;
  }
  // Without chunks a frame's buffer goes to the socket as it is; the end of the connection ends the stream.
  response.removeHeader("transfer-encoding");
  response.writeHead(200, { ...SECURITY_HEADERS, ...SSE_HEADERS, connection: "close" });
  response.on("close", () => end(true));
  response.on("error", () => end(true));
  response.on("drain", () => {
    blocked = false;
    send(createBatchMemory());
    if (!blocked) readies.splice(0).forEach((resolve) => resolve());
  });
  return reader;
}

/** Joins the frames of one tick. Readers of the same stream have the same frames, so the last result serves the next. */
interface BatchMemory {
  join(frames: Buffer[]): Buffer;
}

function createBatchMemory(): BatchMemory {
  let frames: Buffer[] = [];
  let joined = Buffer.alloc(0);
  return {
    join(batch) {
      const only = batch[0];
      if (batch.length === 1 && only !== undefined) return only;
      if (batch.length !== frames.length || batch.some((frame, index) => frame !== frames[index])) {
        frames = batch;
        joined = Buffer.concat(batch);
      }
      return joined;
    },
  };
}
