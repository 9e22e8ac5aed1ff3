import type { JournalEntry, WorkstreamRow } from "../contracts/store.ts";
import type { EphemeralEvent, KeptEvent } from "../protocol/event.ts";
import type { Bus } from "./bus.ts";

/** Tells readers of a workstream, and those of its parent, what happens in it. */
export class Announcer {
  readonly #bus: Bus;
  readonly #row: WorkstreamRow;

  constructor(bus: Bus, row: WorkstreamRow) {
    this.#bus = bus;
    this.#row = row;
  }

  entries(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      this.#bus.publish(this.#bus.replayFrame(entry));
      this.#tellParent(entry.event);
    }
  }

  ephemeral(event: EphemeralEvent): void {
    const { ws_id } = this.#row;
    if (this.#bus.hasReaders(ws_id)) this.#bus.publish(this.#bus.ephemeralFrame(ws_id, event));
    this.#tellParent(event);
  }

  state(): void {
    const { ws_id, state } = this.#row;
    this.ephemeral({ type: "state_change", state });
    this.ephemeral({ type: "ws_state", ws_id, state });
  }

  #tellParent(event: KeptEvent | EphemeralEvent): void {
    const { parent_ws_id, parent_call_id, ws_id } = this.#row;
    if (parent_ws_id === null || parent_call_id === null || !this.#bus.hasReaders(parent_ws_id)) return;
    this.#bus.publish(this.#bus.childFrame(parent_ws_id, event, { ws_id, parent_call_id }));
  }
}
