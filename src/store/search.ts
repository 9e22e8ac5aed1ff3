import type { SearchStore } from "../contracts/store.ts";
import type { SearchClient } from "./search_client.ts";
import type { SearchIndexer } from "./search_index.ts";
import { clampLimit } from "./sql.ts";

/** Hits that one answer may hold. */
const HITS_MAX = 100;

/** Search over conversations, up to what was committed before the call. */
export function createSearch(client: SearchClient, indexer: SearchIndexer): SearchStore {
  return {
    async conversations(filter) {
      await indexer.catchUp();
      return client.conversations({ ...filter, limit: clampLimit(filter.limit, HITS_MAX) });
    },
  };
}
