import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JournalEntry, Store, WorkstreamRow } from "../../src/contracts/store.ts";
import { openStore } from "../../src/store/index.ts";

export interface TemporaryStore {
  store: Store;
  /** Adds a conversation in which `user_id` said each of the texts. */
  converse(ws_id: string, user_id: string, texts: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** A real store in a temporary folder. */
export async function temporaryStore(): Promise<TemporaryStore> {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-store-"));
  const store = await openStore({ path: join(folder, "turnstone.db") });
  const at = "2026-01-02T03:04:05.678Z";
  return {
    store,
    async converse(ws_id, user_id, texts) {
      const row: WorkstreamRow = {
        ws_id,
        name: `talk ${ws_id}`,
        title: null,
        alias: null,
        kind: "main",
        parent_ws_id: null,
        parent_call_id: null,
        user_id,
        state: "idle",
        turn_open: false,
        model_alias: null,
        auto_approve: false,
        auto_approve_tools: [],
        context_tokens: 0,
        last_seq: 0,
        message_count: 0,
        created: at,
        updated: at,
        closed: null,
      };
      await store.workstreams.create(row);
      const entries = texts.map((content, index): JournalEntry => {
        return { ws_id, seq: index + 1, at, event: { type: "user_turn", content, client_send_ids: [] } };
      });
      await store.journal.commit({ ws_id, at, entries });
    },
    async remove() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
