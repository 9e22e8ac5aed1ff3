import type { ServerResponse } from "node:http";
import { SSE_HEADERS, SSE_HEARTBEAT, SSE_HEARTBEAT_INTERVAL_MS, SSE_QUEUE_FRAMES_MAX } from "../lib/sse.ts";
import { SECURITY_HEADERS } from "./security.ts";

/**
 * A write to hundreds of readers takes milliseconds. As long as one took, the next waits, so that streams never have
 * more than half of the process. What comes meanwhile leaves together. A rest below a timer's step is not worth one.
 */
const REST_MS_MIN = 1;
const REST_MS_MAX = 50;

/** One reader of a stream. */
export interface SseConnection {
  readonly closed: boolean;
  /** Queues a whole frame. What is queued in one tick leaves in one write; whoever lets too much wait is cut off. */
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
      const reader = new StreamReader(response, stillAllowed, schedule, forget);
      reader.start();
      if (reader.closed) return reader;
      readers.add(reader);
      heartbeat ??= setInterval(() => beatAll(readers), SSE_HEARTBEAT_INTERVAL_MS).unref();
      return reader;
    },
    closeAll() {
      for (const reader of readers) reader.close();
    },
  };
}

function beatAll(readers: ReadonlySet<Reader>): void {
  for (const reader of readers) {
    reader.beat();
    // Whoever cannot be asked for rights has none; the client comes back and learns why.
    endUnlessAllowed(reader).catch(() => reader.close());
  }
}

async function endUnlessAllowed(reader: Reader): Promise<void> {
  if (!(await reader.stillAllowed())) reader.close();
}

class StreamReader implements Reader {
  readonly stillAllowed: () => Promise<boolean>;
  readonly #response: ServerResponse;
  readonly #schedule: (reader: Reader) => void;
  readonly #forget: (reader: Reader) => void;
  readonly #closings: (() => void)[] = [];
  #readies: (() => void)[] = [];
  readonly #queue = new FrameQueue();
  #scheduled = false;
  /** The socket has more than it can take. */
  #blocked = false;
  #closed = false;

  constructor(
    response: ServerResponse,
    stillAllowed: () => Promise<boolean>,
    schedule: (reader: Reader) => void,
    forget: (reader: Reader) => void,
  ) {
    this.#response = response;
    this.stillAllowed = stillAllowed;
    this.#schedule = schedule;
    this.#forget = forget;
  }

  get closed(): boolean {
    return this.#closed;
  }

  start(): void {
    const response = this.#response;
    if (response.destroyed || response.socket?.destroyed === true) return this.#end(true);
    // Without chunks a frame's buffer goes to the socket as it is; the end of the connection ends the stream.
    response.removeHeader("transfer-encoding");
    response.writeHead(200, { ...SECURITY_HEADERS, ...SSE_HEADERS, connection: "close" });
    response.on("close", () => this.#end(true));
    response.on("error", () => this.#end(true));
    response.on("drain", () => {
      this.#blocked = false;
      this.#send(createBatchMemory());
    });
    // The head leaves with the first bytes, and a quiet stream has none of its own.
    this.write(SSE_HEARTBEAT);
  }

  write(frame: Buffer): void {
    if (this.#closed) return;
    this.#queue.push(frame);
    if (this.#queue.length > SSE_QUEUE_FRAMES_MAX) {
      if (this.#blocked) return this.#end(true);
      this.#send(createBatchMemory());
    }
    if (this.#scheduled || this.#blocked) return;
    this.#scheduled = true;
    this.#schedule(this);
  }

  flush(batches: BatchMemory): void {
    this.#scheduled = false;
    this.#send(batches);
  }

  beat(): void {
    if (!this.#blocked) this.write(SSE_HEARTBEAT);
  }

  ready(): Promise<void> {
    if (this.#closed || (!this.#blocked && this.#queue.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#readies.push(resolve));
  }

  onClose(callback: () => void): void {
    if (this.#closed) callback();
    else this.#closings.push(callback);
  }

  close(): void {
    this.#end(false);
  }

  #send(batches: BatchMemory): void {
    if (this.#closed || this.#blocked) return;
    if (this.#queue.length > 0) this.#blocked = !this.#response.write(batches.take(this.#queue));
    if (!this.#blocked) this.#wake();
  }

  #wake(): void {
    const readies = this.#readies;
    this.#readies = [];
    for (const resolve of readies) resolve();
  }

  #end(cut: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.clear();
    this.#forget(this);
    if (cut) this.#response.destroy();
    else this.#response.end();
    for (const callback of this.#closings) callback();
    this.#wake();
  }
}

/** Frames that a queue keeps places for when it is empty. */
const PLACES_KEPT = 64;

/**
 * Frames that wait. Its places are used again: an array for each reader and flush, thousands a second, is what the
 * garbage collector takes for lasting and moves to where it seldom looks.
 */
class FrameQueue {
  #length = 0;
  #places: (Buffer | null)[] = [];

  get length(): number {
    return this.#length;
  }

  push(frame: Buffer): void {
    this.#places[this.#length] = frame;
    this.#length += 1;
  }

  at(index: number): Buffer | null {
    return this.#places[index] ?? null;
  }

  frames(): Buffer[] {
    return this.#places.filter((frame) => frame !== null);
  }

  clear(): void {
    if (this.#places.length > PLACES_KEPT) this.#places = [];
    else this.#places.fill(null, 0, this.#length);
    this.#length = 0;
  }
}

/** Joins the frames of one tick. Readers of one stream have the same frames, so the last result serves the next. */
interface BatchMemory {
  /** All that waits, as one; the queue is empty then. */
  take(queue: FrameQueue): Buffer;
}

function createBatchMemory(): BatchMemory {
  let frames: Buffer[] = [];
  let joined = Buffer.alloc(0);
  const areJoined = (queue: FrameQueue): boolean => {
    if (queue.length !== frames.length) return false;
    for (let index = 0; index < frames.length; index += 1) if (queue.at(index) !== frames[index]) return false;
    return true;
  };
  return {
    take(queue) {
      const only = queue.length === 1 ? queue.at(0) : null;
      if (only === null && !areJoined(queue)) {
        frames = queue.frames();
        joined = Buffer.concat(frames);
      }
      queue.clear();
      return only ?? joined;
    },
  };
}
