import { join } from "node:path";
import type { Config } from "../config/load.ts";
import { openStore } from "../store/index.ts";
import type { SqliteStore } from "../store/index.ts";

/** The file of the SQLite store. */
export function storeFile(config: Config): string {
  return join(config.server.data_dir, "turnstone.db");
}

/** Opens the store that the settings name; the data directory must exist. Throws a `StoreError`. */
export function openConfiguredStore(config: Config): Promise<SqliteStore> {
  return openStore({ path: storeFile(config) });
}
