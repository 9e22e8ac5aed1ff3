export { restoreStore } from "./backup.ts";
export { DamagedStoreError, StoreError } from "./errors.ts";
export { openStore, type OpenOptions, type SqliteStore } from "./open.ts";
export type { PruneOptions } from "./removal.ts";
