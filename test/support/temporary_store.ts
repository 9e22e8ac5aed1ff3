import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/contracts/store.ts";
import { openStore } from "../../src/store/index.ts";
import { AT, userTurn, workstream } from "./store_rig.ts";

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
  return {
    store,
    async converse(ws_id, user_id, texts) {
      await store.workstreams.create(workstream(ws_id, { user_id, name: `talk ${ws_id}` }));
      const entries = texts.map((content, index) => userTurn(ws_id, index + 1, content));
      await store.journal.commit({ ws_id, at: AT, entries });
    },
    async remove() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
