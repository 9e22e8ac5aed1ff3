import type { JournalEntry, WorkstreamRow } from "../contracts/store.ts";
import type { EphemeralEvent, KeptEvent } from "../protocol/event.ts";
import type { Bus } from "./bus.ts";

/**
 * What a parent's readers see of a sub-agent: what it does and what it asks for. How its own turn runs and ends would
 * read as if the parent's did.
 */
const SHOWN_ON_PARENT: ReadonlySet<string> = new Set<(KeptEvent | EphemeralEvent)["type"]>([
  "assistant",
  "tool_info",
  "approve_request",
  "approval_resolved",
  "tool_started",
  "tool_output_chunk",
  "tool_result",
  "notification",
]);

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
    if (!SHOWN_ON_PARENT.has(event.type)) return;
    if (parent_ws_id === null || parent_call_id === null || !this.#bus.hasReaders(parent_ws_id)) return;
    this.#bus.publish(this.#bus.childFrame(parent_ws_id, event, { ws_id, parent_call_id }));
  }
}
