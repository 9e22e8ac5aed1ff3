import Database from "better-sqlite3";
import { chmodSync, renameSync } from "node:fs";
import { explainFailure, StoreError } from "./errors.ts";
import type { Migration } from "./migrations/migration.ts";

/** Milliseconds to wait for another process that migrates the same file; a large store may take that long. */
const MIGRATION_WAIT_MS = 30_000;

/** The schema version of a database: 0 for a new file. Throws a `StoreError` for a file of some other program. */
export function schemaVersion(connection: Database.Database): number {
  const tables = connection.prepare<[], { name: string }>("select name from sqlite_schema where type = 'table'").all();
  if (tables.length === 0) return 0;
  if (!tables.some((table) => table.name === "schema_migrations")) {
    throw new StoreError("The file is a database of another program; name another file or move this one away.");
  }
  const row = connection
    .prepare<[], { version: number | null }>("select max(version) as version from schema_migrations")
    .get();
  return row?.version ?? 0;
}

/** Throws a `StoreError` for a schema that this program does not know yet. */
export function refuseNewerSchema(version: number, migrations: readonly Migration[]): void {
  const latest = migrations.at(-1)?.version ?? 0;
  if (version <= latest) return;
  throw new StoreError(
    `The database has schema ${version} and this version of turnstone knows ${latest} at most; ` +
      "update turnstone or restore an older backup.",
  );
}

/**
 * Brings a database to the newest schema, all steps or none: a step that fails leaves the file as it was. A second
 * process that starts meanwhile waits and then finds nothing to do. A database that held data is first copied to
 * `<file>.schema-<version>.backup`.
 */
export async function migrate(
  connection: Database.Database,
  migrations: readonly Migration[],
  at: string,
): Promise<void> {
  const known = schemaVersion(connection);
  refuseNewerSchema(known, migrations);
  if (known === (migrations.at(-1)?.version ?? 0)) return;
  connection.pragma(`busy_timeout = ${MIGRATION_WAIT_MS}`);
  connection.exec("begin immediate");
  try {
    const version = schemaVersion(connection);
    refuseNewerSchema(version, migrations);
    const missing = migrations.filter((migration) => migration.version > version);
    if (version > 0 && missing.length > 0) await backupBeforeUpgrade(connection.name, version);
    if (version === 0) {
      connection.exec(
        `create table if not exists schema_migrations (
           version integer primary key, name text not null, applied text not null
         ) strict`,
      );
    }
    const record = connection.prepare("insert into schema_migrations (version, name, applied) values (?, ?, ?)");
    for (const migration of missing) {
      connection.exec(migration.sql);
      record.run(migration.version, migration.name, at);
    }
    connection.exec("commit");
  } catch (error) {
    if (connection.inTransaction) connection.exec("rollback");
    throw upgradeFailure(error);
  }
}

/** The copy is made through a second connection, since the first holds the write lock that keeps the file still. */
async function backupBeforeUpgrade(path: string, version: number): Promise<void> {
  const target = `${path}.schema-${version}.backup`;
  const reader = new Database(path, { readonly: true });
  try {
    await reader.backup(`${target}.partial`);
  } finally {
    reader.close();
  }
  chmodSync(`${target}.partial`, 0o600);
  renameSync(`${target}.partial`, target);
}

function upgradeFailure(error: unknown): unknown {
  const explained = explainFailure(error);
  if (explained instanceof StoreError) return explained;
  return new StoreError(
    "The database could not be upgraded and is unchanged; report this and go on with the former version.",
    {
      cause: error,
    },
  );
}
