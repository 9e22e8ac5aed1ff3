import Database from "better-sqlite3";

/**
 * An expected failure of the store. The message is one plain sentence that says what is wrong and what to do; it is fit
 * for the log and for a person who administrates.
 */
export class StoreError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "StoreError";
  }
}

/** What was kept cannot be read any more: no new attempt changes that. */
export class DamagedStoreError extends StoreError {}

const DAMAGED = "The database file is damaged; restore a backup with `turnstone admin restore`.";

/** What SQLite's result codes mean for a person, by primary code; https://sqlite.org/rescode.html. */
const REMEDIES = new Map<string, string>([
  ["SQLITE_BUSY", "Another process holds the database locked; stop it or try again."],
  ["SQLITE_LOCKED", "Another process holds the database locked; stop it or try again."],
  ["SQLITE_FULL", "The disk that holds the database is full; free some space."],
  ["SQLITE_READONLY", "The database cannot be written to; make the file and its folder writable for this user."],
  [
    "SQLITE_CANTOPEN",
    "The database file cannot be opened; check that its folder exists and is writable for this user.",
  ],
  ["SQLITE_PERM", "The database cannot be written to; make the file and its folder writable for this user."],
  ["SQLITE_IOERR", "The disk that holds the database gave an error; check its space and its health."],
  ["SQLITE_NOTADB", "The file is not a turnstone database; name another file or move this one away."],
  ["SQLITE_CORRUPT", DAMAGED],
]);

/** SQLite's own code of a failure, such as `SQLITE_BUSY`, without what refines it; null for anything else. */
export function sqliteCode(error: unknown): string | null {
  if (error instanceof StoreError) return sqliteCode(error.cause);
  if (!(error instanceof Database.SqliteError)) return null;
  return error.code.split("_").slice(0, 2).join("_");
}

/**
 * Turns a failure of SQLite that a person can mend into a `StoreError`, which begins with the file where `path` is
 * given; whatever else comes back as it is.
 */
export function explainFailure(error: unknown, path?: string): unknown {
  if (error instanceof StoreError) return error;
  const remedy = REMEDIES.get(sqliteCode(error) ?? "");
  if (remedy === undefined) return error;
  const Kind = remedy === DAMAGED ? DamagedStoreError : StoreError;
  return new Kind(path === undefined ? remedy : `${path}: ${remedy}`, { cause: error });
}

/** A row that is there and does not hold what was written. */
export function unreadableRow(cause: unknown): DamagedStoreError {
  return new DamagedStoreError(DAMAGED, { cause });
}
