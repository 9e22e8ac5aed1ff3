import Database from "better-sqlite3";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { explainFailure, sqliteCode, StoreError, unreadableRow } from "./errors.ts";
import { refuseNewerSchema, schemaVersion } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";

/**
 * Copies a database while it is in use. The file appears under its name only when it is whole. Throws a `StoreError`
 * when it cannot be written.
 */
export async function backupDatabase(connection: Database.Database, path: string): Promise<void> {
  if (resolve(path) === resolve(connection.name)) {
    throw new StoreError("The backup needs a file of its own; name another one.");
  }
  const partial = partialName(path);
  try {
    closeSync(openSync(partial, "wx", 0o600));
    await connection.backup(partial);
    refuseDamaged(partial);
    syncToDisk(partial);
    renameSync(partial, path);
    syncToDisk(dirname(resolve(path)));
  } catch (error) {
    throw notWritten(path, error);
  } finally {
    removeDatabaseFiles(partial);
  }
}

/**
 * Puts the database of `from` in the place of `to_path`, whose process must have stopped. What it restores is checked
 * first. What it replaces is kept beside it; its name is answered, or null when nothing was there. Throws a
 * `StoreError` and changes nothing when the backup is damaged, of another program or too new, or when the store is in
 * use.
 */
export async function restoreStore(from: string, to_path: string): Promise<{ replaced: string | null }> {
  if (!existsSync(from)) throw new StoreError(`There is no file ${from}; name the backup to restore.`);
  if (resolve(from) === resolve(to_path)) {
    throw new StoreError("The backup and the store are the same file; name another backup.");
  }
  const partial = partialName(to_path);
  try {
    await copyChecked(from, partial);
    const replaced = existsSync(to_path) ? setAside(to_path) : null;
    renameSync(partial, to_path);
    syncToDisk(dirname(resolve(to_path)));
    return { replaced };
  } catch (error) {
    throw notWritten(to_path, error);
  } finally {
    removeDatabaseFiles(partial);
  }
}

async function copyChecked(from: string, to: string): Promise<void> {
  const source = new Database(from, { readonly: true, fileMustExist: true });
  try {
    const version = schemaVersion(source);
    if (version === 0) throw new StoreError("The backup is empty; name another one.");
    refuseNewerSchema(version, MIGRATIONS);
    closeSync(openSync(to, "wx", 0o600));
    await source.backup(to);
  } finally {
    source.close();
  }
  const copy = new Database(to);
  try {
    const verdict = copy.pragma("integrity_check(1)", { simple: true });
    if (verdict !== "ok") throw new StoreError("The backup is damaged; name another one.", { cause: verdict });
    // Leaves one file without a log beside it, which is what is then moved into place.
    copy.pragma("journal_mode = delete");
  } finally {
    copy.close();
  }
  syncToDisk(to);
}

/** A copy of damage is no backup, and whoever takes it for one finds out when it is too late. */
function refuseDamaged(copy: string): void {
  const connection = new Database(copy, { readonly: true });
  try {
    const verdict = connection.pragma("quick_check(1)", { simple: true });
    if (verdict !== "ok") throw unreadableRow(verdict);
  } finally {
    connection.close();
  }
}

/** Keeps the present file under another name. Its log is written into it first, which fails while a process uses it. */
function setAside(path: string): string {
  const aside = `${path}.replaced-${new Date().toISOString().replaceAll(":", "-")}`;
  if (mergeLog(path) === "damaged") {
    for (const suffix of ["-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  try {
    linkSync(path, aside);
  } catch {
    // Some file systems know no hard links.
    copyFileSync(path, aside);
  }
  chmodSync(aside, 0o600);
  return aside;
}

function mergeLog(path: string): "merged" | "damaged" {
  try {
    const connection = new Database(path, { timeout: 0 });
    try {
      connection.pragma("journal_mode = delete");
      return "merged";
    } finally {
      connection.close();
    }
  } catch (error) {
    const code = sqliteCode(error);
    if (code === "SQLITE_NOTADB" || code === "SQLITE_CORRUPT") return "damaged";
    if (code === "SQLITE_BUSY") {
      throw new StoreError("The store is in use; stop turnstone and try again.", { cause: error });
    }
    throw error;
  }
}

function partialName(path: string): string {
  return `${path}.partial-${randomBytes(6).toString("hex")}`;
}

function removeDatabaseFiles(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function notWritten(path: string, error: unknown): unknown {
  const explained = explainFailure(error);
  if (explained instanceof StoreError) return explained;
  return new StoreError(
    `The file ${path} could not be written; check that its folder exists, is writable and has space.`,
    {
      cause: error,
    },
  );
}
