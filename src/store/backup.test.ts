import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { restoreStore } from "./backup.ts";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { openStore } from "./open.ts";
import { AT, temporaryFolder, temporaryStore, userTurn, workstream } from "../../test/support/store_rig.ts";

test("a backup taken while the store is written to is whole (REQ-STORE-017)", async () => {
  const folder = temporaryFolder();
  const store = await temporaryStore(join(folder, "turnstone.db"));
  await store.workstreams.create(workstream("a"));
  const commit = (seq: number) =>
    store.journal.commit({
      ws_id: "a",
      at: AT,
      entries: [userTurn("a", seq * 2 - 1, "x".repeat(20_000)), userTurn("a", seq * 2, "y")],
    });
  for (let seq = 1; seq <= 100; seq += 1) await commit(seq);
  const target = join(folder, "copy.db");
  const backup = store.backup(target);
  for (let seq = 101; seq <= 150; seq += 1) await commit(seq);
  await backup;
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  const copy = await temporaryStore(target);
  const entries = await copy.journal.read("a", 0);
  expect(entries.length).toBeGreaterThanOrEqual(200);
  expect(await copy.workstreams.get("a")).toMatchObject({ last_seq: entries.length });
});

test("a backup that cannot be written is told and leaves nothing", async () => {
  const folder = temporaryFolder();
  const store = await temporaryStore(join(folder, "turnstone.db"));
  await expect(store.backup(join(folder, "none", "copy.db"))).rejects.toThrow("could not be written");
  await expect(store.backup(join(folder, "turnstone.db"))).rejects.toThrow("needs a file of its own");
  expect(await store.check()).toBe(true);
});

test("a restore replaces the store and keeps what it replaced (REQ-STORE-018)", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "turnstone.db");
  const backup = join(folder, "copy.db");
  const store = await openStore({ path });
  await store.workstreams.create(workstream("saved"));
  await store.backup(backup);
  await store.workstreams.create(workstream("lost"));
  await expect(restoreStore(backup, path)).rejects.toThrow("The store is in use; stop turnstone and try again.");
  await store.close();
  const { replaced } = await restoreStore(backup, path);
  const restored = await temporaryStore(path);
  expect((await restored.workstreams.list({ limit: 9 })).map((row) => row.ws_id)).toEqual(["saved"]);
  const former = await temporaryStore(replaced ?? "");
  expect(await former.workstreams.get("lost")).not.toBeNull();
});

test("a restore into an empty place needs nothing there", async () => {
  const folder = temporaryFolder();
  const store = await temporaryStore(join(folder, "turnstone.db"));
  await store.workstreams.create(workstream("a"));
  expect(await restoreStore(join(folder, "turnstone.db"), join(folder, "new.db"))).toEqual({ replaced: null });
  const copy = await temporaryStore(join(folder, "new.db"));
  expect(await copy.workstreams.get("a")).not.toBeNull();
});

test("what is damaged, foreign, newer or missing is not restored", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "turnstone.db");
  const store = await openStore({ path });
  await store.workstreams.create(workstream("a"));
  for (let seq = 1; seq < 50; seq += 1) {
    await store.journal.commit({ ws_id: "a", at: AT, entries: [userTurn("a", seq, "z".repeat(5000))] });
  }
  const damaged = join(folder, "damaged.db");
  await store.backup(damaged);
  await store.close();
  const bytes = readFileSync(damaged);
  writeFileSync(damaged, bytes.fill(0xab, 4096 * 8, bytes.length - 4096 * 8));
  const text = join(folder, "text");
  writeFileSync(text, "no database ".repeat(1000));
  const foreign = join(folder, "foreign.db");
  const connection = new Database(foreign);
  connection.exec("create table x (x)");
  connection.close();
  const newer = join(folder, "newer.db");
  (
    await openDatabase(
      newer,
      [...MIGRATIONS, { version: MIGRATIONS.length + 1, name: "next", sql: "create table s (x)" }],
      AT,
    )
  ).close();
  const empty = join(folder, "empty.db");
  writeFileSync(empty, "");
  for (const from of [damaged, text, foreign, newer, empty, join(folder, "none"), path]) {
    await expect(restoreStore(from, path)).rejects.toMatchObject({ name: "StoreError" });
  }
  const untouched = await temporaryStore(path);
  expect(await untouched.journal.read("a", 0)).toHaveLength(49);
  expect(readdirSync(folder).filter((name) => /partial|replaced/.test(name))).toEqual([]);
});

test("a damaged store can be replaced", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "turnstone.db");
  const store = await openStore({ path });
  await store.workstreams.create(workstream("a"));
  const backup = join(folder, "copy.db");
  await store.backup(backup);
  await store.close();
  writeFileSync(path, "garbage ".repeat(2000));
  chmodSync(path, 0o600);
  await expect(openStore({ path })).rejects.toMatchObject({ name: "StoreError" });
  const { replaced } = await restoreStore(backup, path);
  expect(readFileSync(replaced ?? "", "utf8").startsWith("garbage")).toBe(true);
  copyFileSync(path, join(folder, "again.db"));
  const restored = await temporaryStore(path);
  expect(await restored.workstreams.get("a")).not.toBeNull();
});
