import Database from "better-sqlite3";
import { chmodSync, closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { explainFailure, StoreError } from "./errors.ts";
import { migrate } from "./migrate.ts";
import type { Migration } from "./migrations/migration.ts";
import { makeFolder } from "../lib/make_folder.ts";

/** Milliseconds that a statement may stand still for another process; the writer waits longer, off the event loop. */
const BUSY_TIMEOUT_MS = 10;

/** Milliseconds that the start may wait for another process. */
const OPEN_TIMEOUT_MS = 5000;

/** Bytes that the write-ahead log keeps on disk after it was emptied: a burst does not occupy the disk for ever. */
const WAL_SIZE_LIMIT = 64 * 1024 * 1024;

/**
 * Opens the one connection that writes, with the newest schema. Makes the folder (0700) and the file (0600) where they
 * are missing. Throws a `StoreError` when the file cannot be used.
 */
export async function openDatabase(
  path: string,
  migrations: readonly Migration[],
  at: string,
): Promise<Database.Database> {
  let connection: Database.Database | null = null;
  try {
    createPrivateFile(path);
    connection = new Database(path, { timeout: OPEN_TIMEOUT_MS });
    useWriteAheadLog(connection);
    connection.pragma("synchronous = full");
    connection.pragma("foreign_keys = on");
    connection.pragma(`journal_size_limit = ${WAL_SIZE_LIMIT}`);
    await migrate(connection, migrations, at);
    connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return connection;
  } catch (error) {
    connection?.close();
    throw explainFailure(error, path);
  }
}

function createPrivateFile(path: string): void {
  try {
    makeFolder(dirname(path), 0o700);
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
  } catch (error) {
    throw new StoreError(
      `The database ${path} cannot be written to; make its folder writable or name another data directory.`,
      { cause: error },
    );
  }
}

function useWriteAheadLog(connection: Database.Database): void {
  if (connection.pragma("journal_mode = wal", { simple: true }) === "wal") return;
  throw new StoreError(
    "The folder of the database does not allow write-ahead logging; put the data directory on a local disk.",
  );
}
