import type { Draft } from "../agent/turn_port.ts";
import type { Conversation } from "../agent/conversation.ts";
import { applyEntry } from "../agent/projection.ts";
import type { Change, JournalEntry, Step, Store, WorkstreamRow } from "../contracts/store.ts";
import { timestamp, type Clock } from "../lib/clock.ts";

interface Waiting {
  draft: Draft;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** A step with nothing left open. */
type WholeStep = Required<Step> & { entries: JournalEntry[] };

/** A step as it was written: what is to be told now. */
export interface Written {
  entries: JournalEntry[];
  state_changed: boolean;
}

/**
 * The only writer of one workstream's journal. Drafts that come until the store is ready to write go into one step
 * together. A failed step leaves everything as it was; its drafts are rejected and nothing of them was told.
 */
export class JournalWriter {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #row: WorkstreamRow;
  readonly #conversation: Conversation;
  readonly #onWritten: (written: Written) => void;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(
    store: Store,
    clock: Clock,
    row: WorkstreamRow,
    conversation: Conversation,
    onWritten: (written: Written) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#row = row;
    this.#conversation = conversation;
    this.#onWritten = onWritten;
  }

  append(draft: Draft): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ draft, resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) await this.#writeStep();
    this.#writing = false;
  }

  async #writeStep(): Promise<void> {
    const taken: { batch: Waiting[] | null; step: WholeStep | null } = { batch: null, step: null };
    try {
      await this.#store.journal.commit(() => {
        taken.batch = this.#take();
        taken.step = this.#stepOf(taken.batch);
        return taken.step;
      });
    } catch (error) {
      // A store that was not ready to write has not asked for the step.
      for (const waiting of taken.batch ?? this.#take()) waiting.reject(error);
      return;
    }
    if (taken.step === null) throw new Error("The store committed a step without asking for it.");
    const { at, entries, state, turn_open, context_tokens } = taken.step;
    const state_changed = state !== this.#row.state;
    Object.assign(this.#row, {
      state,
      turn_open,
      context_tokens,
      updated: at,
      last_seq: this.#conversation.last_seq + entries.length,
    });
    for (const entry of entries) applyEntry(this.#conversation, entry);
    this.#onWritten({ entries, state_changed });
    for (const waiting of taken.batch ?? []) waiting.resolve();
  }

  #take(): Waiting[] {
    const batch = this.#waiting;
    this.#waiting = [];
    return batch;
  }

  #stepOf(batch: readonly Waiting[]): WholeStep {
    const at = timestamp(this.#clock);
    const merged = mergeDrafts(batch.map((waiting) => waiting.draft));
    const { ws_id } = this.#row;
    const entries = merged.entries.map((entry, index): JournalEntry => ({
      ws_id,
      seq: this.#conversation.last_seq + 1 + index,
      at,
      event: entry.event,
      ...(entry.private === undefined || Object.keys(entry.private).length === 0 ? {} : { private: entry.private }),
    }));
    const state = merged.state ?? this.#row.state;
    const turn_open = merged.turn_open ?? this.#row.turn_open;
    const context_tokens = merged.context_tokens ?? this.#row.context_tokens;
    const changes = (merged.changes ?? []).map((change) => stamped(change, entries, at));
    return { ws_id, at, entries, state, turn_open, context_tokens, changes };
  }
}

function mergeDrafts(drafts: readonly Draft[]): Draft {
  if (drafts.length === 1 && drafts[0] !== undefined) return drafts[0];
  const merged: Draft = { entries: [], changes: [] };
  for (const draft of drafts) {
    merged.entries.push(...draft.entries);
    merged.changes?.push(...(draft.changes ?? []));
    if (draft.state !== undefined) merged.state = draft.state;
    if (draft.turn_open !== undefined) merged.turn_open = draft.turn_open;
    if (draft.context_tokens !== undefined) merged.context_tokens = draft.context_tokens;
  }
  return merged;
}

/** Fills in what only the writer knows: the time, and the `seq` of the entry that a row belongs to. */
function stamped(change: Change, entries: readonly JournalEntry[], at: string): Change {
  switch (change.kind) {
    case "approval_opened": {
      const { cycle_id } = change.approval;
      const entry = entries.find(({ event }) => event.type === "approve_request" && event.cycle_id === cycle_id);
      return { kind: "approval_opened", approval: { ...change.approval, seq: entry?.seq ?? 0, created: at } };
    }
    case "review_opened": {
      const { review_id } = change.review;
      const entry = entries.find(({ event }) => event.type === "plan_review" && event.review_id === review_id);
      return { kind: "review_opened", review: { ...change.review, seq: entry?.seq ?? 0, created: at } };
    }
    case "usage_added":
      return { kind: "usage_added", usage: { ...change.usage, at } };
    case "message_accepted":
    case "message_joined":
    case "message_withdrawn":
    case "approval_settled":
    case "review_settled":
    case "grant_added":
    case "workstream_created":
    case "workstream_changed":
      return change;
  }
}
