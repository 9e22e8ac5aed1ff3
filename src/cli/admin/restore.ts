import { resolve } from "node:path";
import { prepareDataDirectory } from "../../config/data_directory.ts";
import type { Config } from "../../config/load.ts";
import { restoreStore, StoreError } from "../../store/index.ts";
import { storeFile } from "../store_access.ts";
import type { AdminResult } from "./command.ts";

/** Puts a backup in the place of the store, which no process may have open. What stood there is kept beside it. */
export async function restore(config: Config, from: string): Promise<AdminResult> {
  if (config.database.url !== null) {
    return {
      ok: false,
      error: "The store is a PostgreSQL database; restore it with its own tools, such as pg_restore.",
    };
  }
  const prepared = prepareDataDirectory(config);
  if (!prepared.ok) return prepared;
  const file = storeFile(config);
  try {
    const { replaced } = await restoreStore(resolve(from), file);
    const kept = replaced === null ? [] : [`What stood there is kept as ${replaced}.`];
    return { ok: true, data: { file, replaced }, lines: [`Restored ${file} from ${resolve(from)}.`, ...kept] };
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, error: error.message };
    throw error;
  }
}
