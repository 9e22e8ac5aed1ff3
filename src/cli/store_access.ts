import { join } from "node:path";
import type { Config } from "../config/load.ts";
import { openStore, StoreError } from "../store/index.ts";
import type { SqliteStore } from "../store/index.ts";

// Keeping everything in another place than the one that was asked for would look like it worked until it is needed.
const NO_POSTGRESQL =
  "This version keeps its data in SQLite only and cannot use PostgreSQL; remove TURNSTONE_DB_URL or [database] url to start.";

/** The file of the SQLite store. */
export function storeFile(config: Config): string {
  return join(config.server.data_dir, "turnstone.db");
}

/** Opens the store that the settings name; the data directory must exist. Throws a `StoreError`. */
export async function openConfiguredStore(config: Config): Promise<SqliteStore> {
  if (config.database.url !== null) throw new StoreError(NO_POSTGRESQL);
  return openStore({ path: storeFile(config) });
}
