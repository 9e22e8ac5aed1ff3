import type { EventBus, Frame, GlobalFrame, Unsubscribe } from "../contracts/engine.ts";
import { encodeSseFrame } from "../lib/sse.ts";
import type { ChildFrame, EphemeralEvent, GlobalEvent, KeptEvent } from "../protocol/event.ts";

/** One event, serialised when the first reader wants it and never again. */
class BusFrame implements Frame {
  readonly ws_id: string;
  readonly seq: number | null;
  readonly at: string | null;
  readonly event: KeptEvent | EphemeralEvent;
  readonly child: ChildFrame | null;
  #bytes: Buffer | null = null;

  constructor(
    ws_id: string,
    event: KeptEvent | EphemeralEvent,
    seq: number | null,
    at: string | null,
    child: ChildFrame | null,
  ) {
    this.ws_id = ws_id;
    this.event = event;
    this.seq = seq;
    this.at = at;
    this.child = child;
  }

  bytes(): Buffer {
    this.#bytes ??= encodeSseFrame(this.#json(), this.seq);
    return this.#bytes;
  }

  #json(): string {
    if (this.child !== null) return JSON.stringify({ ...this.event, ...this.child });
    return JSON.stringify(this.at === null ? this.event : { ...this.event, at: this.at });
  }
}

class GlobalBusFrame implements GlobalFrame {
  readonly ws_id: string;
  readonly event: GlobalEvent;
  #bytes: Buffer | null = null;

  constructor(event: GlobalEvent) {
    this.ws_id = event.ws_id;
    this.event = event;
  }

  bytes(): Buffer {
    this.#bytes ??= encodeSseFrame(JSON.stringify(this.event), null);
    return this.#bytes;
  }
}

/** Tells readers at once, in the order of publication. A reader must not throw and must not block. */
export class Bus implements EventBus {
  /** By workstream; with each reader the person who reads, where one is named. */
  readonly #readers = new Map<string, Map<(frame: Frame) => void, string | null>>();
  readonly #all = new Set<(frame: Frame) => void>();
  readonly #global = new Set<(frame: GlobalFrame) => void>();

  subscribe(ws_id: string, reader: (frame: Frame) => void, user_id: string | null = null): Unsubscribe {
    const readers = this.#readers.get(ws_id) ?? new Map<(frame: Frame) => void, string | null>();
    readers.set(reader, user_id);
    this.#readers.set(ws_id, readers);
    return () => {
      readers.delete(reader);
      if (readers.size === 0 && this.#readers.get(ws_id) === readers) this.#readers.delete(ws_id);
    };
  }

  subscribeAll(reader: (frame: Frame) => void): Unsubscribe {
    this.#all.add(reader);
    return () => this.#all.delete(reader);
  }

  subscribeGlobal(reader: (frame: GlobalFrame) => void): Unsubscribe {
    this.#global.add(reader);
    return () => this.#global.delete(reader);
  }

  replayFrame(entry: { ws_id: string; seq: number; at: string; event: KeptEvent }): Frame {
    return new BusFrame(entry.ws_id, entry.event, entry.seq, entry.at, null);
  }

  ephemeralFrame(ws_id: string, event: EphemeralEvent, child?: ChildFrame): Frame {
    return new BusFrame(ws_id, event, null, null, child ?? null);
  }

  /** A sub-agent's event as its parent's readers see it. */
  childFrame(
    parent_ws_id: string,
    event: KeptEvent | EphemeralEvent,
    child: ChildFrame,
    at: string | null = null,
  ): Frame {
    return new BusFrame(parent_ws_id, event, null, at, child);
  }

  publish(frame: Frame): void {
    for (const reader of this.#readers.get(frame.ws_id)?.keys() ?? []) reader(frame);
    for (const reader of this.#all) reader(frame);
  }

  /** Tells one person, where they read, and nobody else. It is in no journal, so it is told once. */
  publishTo(user_id: string, ws_id: string, event: KeptEvent): void {
    const frame = new BusFrame(ws_id, event, null, null, null);
    for (const [reader, whose] of this.#readers.get(ws_id) ?? []) if (whose === user_id) reader(frame);
  }

  publishGlobal(event: GlobalEvent): void {
    if (this.#global.size === 0) return;
    const frame = new GlobalBusFrame(event);
    for (const reader of this.#global) reader(frame);
  }

  /** Whether somebody reads this workstream's own stream. */
  isWatched(ws_id: string): boolean {
    return this.#readers.has(ws_id);
  }

  /** Whether anybody would see an event of this workstream. */
  hasReaders(ws_id: string): boolean {
    return this.#all.size > 0 || this.#readers.has(ws_id);
  }
}
