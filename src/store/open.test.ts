import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";
import { openStore } from "./open.ts";
import { AT, temporaryFolder, temporaryStore, userTurn, workstream } from "../../test/support/store_rig.ts";

/** What the next release would bring. */
const NOW = MIGRATIONS.length;
const NEXT: Migration = { version: NOW + 1, name: "next", sql: "create table next (x text) strict" };
const BROKEN: Migration = {
  version: NOW + 1,
  name: "broken",
  sql: "create table half (x text) strict; insert into nowhere values (1)",
};

test("the folder and the files are for their owner alone (REQ-STORE-019)", async () => {
  const folder = join(temporaryFolder(), "made");
  const store = await temporaryStore(join(folder, "turnstone.db"));
  await store.workstreams.create(workstream("a"));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const suffix of ["", "-wal", "-shm"]) {
    expect(statSync(join(folder, `turnstone.db${suffix}`)).mode & 0o777).toBe(0o600);
  }
});

test("every commit is synced and references are checked (REQ-STORE-005)", async () => {
  const connection = await openDatabase(join(temporaryFolder(), "turnstone.db"), MIGRATIONS, AT);
  onTestFinished(() => void connection.close());
  expect(connection.pragma("journal_mode", { simple: true })).toBe("wal");
  expect(connection.pragma("synchronous", { simple: true })).toBe(2);
  expect(connection.pragma("foreign_keys", { simple: true })).toBe(1);
});

test("a file that is no database, or somebody else's, is refused and stays as it is (REQ-STORE-010)", async () => {
  const path = join(temporaryFolder(), "notes.txt");
  writeFileSync(
    path,
    "These are my notes, and they are longer than a header of a database would have to be.".repeat(9),
  );
  const notes = readFileSync(path);
  await expect(openStore({ path })).rejects.toThrow(`${path}: The file is not a turnstone database`);
  expect(readFileSync(path).equals(notes)).toBe(true);
  const other = join(temporaryFolder(), "other.db");
  const connection = new Database(other);
  connection.exec("create table photos (x)");
  connection.close();
  await expect(openStore({ path: other })).rejects.toMatchObject({
    name: "StoreError",
    message: "The file is a database of another program; name another file or move this one away.",
  });
});

test("a folder that cannot be written to is told", async () => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, "");
  await expect(openStore({ path: join(path, "turnstone.db") })).rejects.toThrow(
    "cannot be written to; make its folder writable",
  );
});

test("a store that another process has locked is told (STOR-08)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const connection = new Database(path);
  connection.exec("begin exclusive; create table x (x)");
  onTestFinished(() => void connection.close());
  await expect(openStore({ path })).rejects.toThrow("Another process holds the database locked");
});

test("a newer schema is refused (STOR-17, REQ-STORE-009)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  (await openDatabase(path, [...MIGRATIONS, NEXT], AT)).close();
  await expect(openStore({ path })).rejects.toThrow(
    `The database has schema ${NOW + 1} and this version of turnstone knows ${NOW} at most`,
  );
});

test("an upgrade keeps a copy of what was there (STOR-17)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const store = await openStore({ path });
  await store.workstreams.create(workstream("a"));
  await store.close();
  (await openDatabase(path, [...MIGRATIONS, NEXT], AT)).close();
  const kept = `${path}.schema-${NOW}.backup`;
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const copy = await temporaryStore(kept);
  expect(await copy.workstreams.get("a")).toEqual(workstream("a"));
});

// REQ-STORE-008
test("an upgrade that fails leaves the file in use as it was, and can be done again (STOR-17)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const store = await openStore({ path });
  await store.workstreams.create(workstream("a"));
  await store.close();
  await expect(openDatabase(path, [...MIGRATIONS, BROKEN], AT)).rejects.toThrow(
    "could not be upgraded and is unchanged",
  );
  const former = await openStore({ path });
  expect(await former.workstreams.get("a")).toEqual(workstream("a"));
  await former.close();
  (await openDatabase(path, [...MIGRATIONS, NEXT], AT)).close();
});

test("many openings at once make one schema (STOR-17)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const openings = Array.from({ length: 8 }, () => openDatabase(path, [...MIGRATIONS, NEXT], AT));
  const connections = await Promise.all(openings);
  expect(connections[0]?.prepare("select version, name from schema_migrations").all()).toEqual(
    [...MIGRATIONS, NEXT].map(({ version, name }) => ({ version, name })),
  );
  for (const connection of connections) connection.close();
  expect(existsSync(`${path}.schema-${NOW}.backup`)).toBe(false);
});

test("check tells whether the store can be written to, and close may be called twice", async () => {
  const store = await temporaryStore();
  expect(await store.check()).toBe(true);
  await store.close();
  await store.close();
  expect(await store.check()).toBe(false);
});

test("text with NUL and half characters is kept without them where a column holds it (PROV-29, STOR-06)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a", { name: "na\0me \ud83d!" }));
  expect((await store.workstreams.get("a"))?.name).toBe("name \ufffd!");
  await store.journal.commit({ ws_id: "a", at: AT, entries: [userTurn("a", 1, "x\0y \udc00")] });
  expect(await store.journal.read("a", 0)).toEqual([userTurn("a", 1, "x\0y \udc00")]);
});
