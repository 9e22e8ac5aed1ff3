import { modelChain } from "../agent/models.ts";
import { titleFor } from "../agent/title.ts";
import type { LiveWorkstream } from "./live_workstream.ts";

/** Gives workstreams their titles, in the background and never in the way of a turn. */
export class Titles {
  /** Ends the call for a title: by the workstream that it names. */
  readonly #calls = new Map<string, AbortController>();

  /** Names a workstream whose turn has just ended, when it has no name yet. */
  turnEnded(actor: LiveWorkstream): void {
    const { row, conversation, services } = actor;
    if (row.kind !== "main" || row.title !== null || conversation.turn !== null) return;
    if (!conversation.title_due || row.state !== "idle") return;
    conversation.title_due = false;
    this.#name(actor).catch((error: unknown) => services.log.warn("title.failed", { ws_id: row.ws_id, error }));
  }

  /** A model that does one thing at a time would make the turn wait for its title. */
  giveWay(ws_id: string): void {
    this.#calls.get(ws_id)?.abort();
  }

  /** Ends all calls. */
  stop(): void {
    for (const call of this.#calls.values()) call.abort();
  }

  async #name(actor: LiveWorkstream): Promise<void> {
    const { row, conversation, services } = actor;
    const settings = modelChain(services.models(), row.model_alias)[0];
    if (settings === undefined) return;
    const abort = new AbortController();
    this.#calls.set(row.ws_id, abort);
    try {
      const { text, usage } = await titleFor(conversation, row, settings, abort.signal, services);
      if (usage.length > 0) await actor.append({ entries: [], changes: usage });
      // Somebody may have named it meanwhile.
      if (text === null || row.title !== null || row.closed !== null) return;
      await services.store.workstreams.update(row.ws_id, { title: text });
      row.title = text;
      services.bus.publishGlobal({ type: "ws_rename", ws_id: row.ws_id, name: text });
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    } finally {
      if (this.#calls.get(row.ws_id) === abort) this.#calls.delete(row.ws_id);
    }
  }
}
