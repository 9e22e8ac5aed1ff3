import { DAY_MS } from "../../src/lib/clock.ts";
import type { Gateway } from "../gateway.ts";

/**
 * Up to where everything in a channel was heard, so that a start reads from there and not a whole day. The server keeps
 * it; it is never ahead of a message that is not settled.
 */
export interface HeardMarks {
  /** The connection may have missed something: marks stand still until their channels are read. */
  interrupted(): void;
  /** Takes in what the server keeps, before channels are read. */
  load(): Promise<void>;
  /** Where to begin to read a channel, and what to call when all after it is settled, with the newest id read. */
  reading(channel_id: string): { after: string; read(newest: string | null): void };
  /** Runs the work of one message. It is settled where that answers true; else a later start must find it. */
  settle(message: { channel_id: string; message_id: string }, work: () => Promise<boolean>): Promise<void>;
  /** Writes down what has moved. */
  save(): Promise<void>;
}

/** A mention that nobody answered for longer than this is no longer waited for. */
const MENTION_AGE_MS_MAX = DAY_MS;
/** A mark is a shortcut: written seldom, it costs a start a few messages more. */
const SAVE_INTERVAL_MS = 30_000;
/** Marks keep this far behind: ids are not given strictly in order, and an early edit may add a mention. */
const MARGIN_MS = 5 * 60_000;
/** Channels that are remembered; of one more nothing is, and a start reads its whole day. */
const CHANNELS_MAX = 5000;

/** With more than this, those are forgotten that nobody looks for any more. */
const UNSETTLED_MAX = 1000;
/** As many as the server takes at once. */
const MARKS_PER_REQUEST = 500;

type Surroundings = Pick<Gateway, "adapter" | "clock" | "server" | "signal" | "log">;

export function createHeardMarks(surroundings: Surroundings): HeardMarks {
  return new Marks(surroundings);
}

/** What is known of one channel. */
class Channel {
  /** Being worked on, and those whose work did not settle them. */
  readonly unsettled = new Set<bigint>();
  newest = 0n;
  /** Where everything was heard when the connection was interrupted; null when nothing can have been missed. */
  ceiling: bigint | null = 0n;
  saved = 0n;

  /** Up to where everything is settled, and no further than `limit`. */
  mark(limit: bigint): bigint {
    const ids = [...this.unsettled].map((id) => id - 1n).concat(this.newest, this.ceiling ?? limit);
    return ids.reduce((one, other) => (other < one ? other : one), limit);
  }

  raise(kept: bigint): void {
    this.newest = later(this.newest, kept);
    if (this.ceiling !== null) this.ceiling = later(this.ceiling, kept);
    this.saved = later(this.saved, kept);
  }
}

class Marks implements HeardMarks {
  readonly #surroundings: Surroundings;
  readonly #channels = new Map<string, Channel>();
  #interruptions = 0;
  #waiting = false;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  interrupted(): void {
    this.#interruptions += 1;
    for (const channel of this.#channels.values()) channel.ceiling ??= this.#markOf(channel);
  }

  async load(): Promise<void> {
    const { server, log } = this.#surroundings;
    const kept = await server.marks();
    if (!kept.ok) return log.warn("marks.not_read", { status: kept.status });
    for (const { channel_id, heard_id } of kept.value.marks) this.#channelOf(channel_id)?.raise(BigInt(heard_id));
  }

  reading(channel_id: string): ReturnType<HeardMarks["reading"]> {
    const begun_in = this.#interruptions;
    const channel = this.#channelOf(channel_id);
    const day_ago = this.#idBefore(MENTION_AGE_MS_MAX);
    return {
      after: String(channel === null ? day_ago : later(this.#markOf(channel), day_ago)),
      read: (newest) => {
        if (channel === null || begun_in !== this.#interruptions) return;
        channel.ceiling = null;
        if (newest !== null) channel.newest = later(channel.newest, BigInt(newest));
        this.#saveLater();
      },
    };
  }

  async settle(message: { channel_id: string; message_id: string }, work: () => Promise<boolean>): Promise<void> {
    const channel = this.#channelOf(message.channel_id);
    const id = BigInt(message.message_id);
    if (channel !== null) {
      channel.unsettled.add(id);
      channel.newest = later(channel.newest, id);
      if (channel.unsettled.size > UNSETTLED_MAX) {
        forgetBefore(channel.unsettled, this.#idBefore(MENTION_AGE_MS_MAX));
      }
    }
    if (!(await work())) return;
    channel?.unsettled.delete(id);
    this.#saveLater();
  }

  async save(): Promise<void> {
    const { server, log } = this.#surroundings;
    const moved = [...this.#channels]
      .map(([channel_id, channel]) => ({ channel_id, channel, mark: this.#markOf(channel) }))
      .filter(({ channel, mark }) => mark > channel.saved);
    for (let index = 0; index < moved.length; index += MARKS_PER_REQUEST) {
      const part = moved.slice(index, index + MARKS_PER_REQUEST);
      const marks = part.map(({ channel_id, mark }) => ({ channel_id, heard_id: String(mark) }));
      const answer = await server.moveMarks({ marks });
      if (!answer.ok) return log.warn("marks.not_saved", { status: answer.status });
      for (const { channel, mark } of part) channel.saved = mark;
    }
  }

  #saveLater(): void {
    const { clock, signal } = this.#surroundings;
    if (this.#waiting || signal.aborted) return;
    this.#waiting = true;
    clock
      .sleep(SAVE_INTERVAL_MS, signal)
      .finally(() => (this.#waiting = false))
      .then(() => this.save())
      .catch(() => {});
  }

  #channelOf(channel_id: string): Channel | null {
    const known = this.#channels.get(channel_id);
    if (known !== undefined || this.#channels.size >= CHANNELS_MAX) return known ?? null;
    const made = new Channel();
    this.#channels.set(channel_id, made);
    return made;
  }

  #markOf(channel: Channel): bigint {
    return channel.mark(this.#idBefore(MARGIN_MS));
  }

  #idBefore(milliseconds: number): bigint {
    const { adapter, clock } = this.#surroundings;
    return BigInt(adapter.idAt(clock.now() - milliseconds));
  }
}

function forgetBefore(ids: Set<bigint>, oldest: bigint): void {
  for (const id of ids) if (id < oldest) ids.delete(id);
}

function later(one: bigint, other: bigint): bigint {
  return other > one ? other : one;
}
