import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { join } from "node:path";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { createSql } from "./sql.ts";
import { AT, temporaryFolder, temporaryStore, workstream } from "../../test/support/store_rig.ts";
import { createWriter } from "./writer.ts";

test("two stores on one file each write five hundred rows and none is lost (STOR-08, REQ-STORE-006)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const [left, right] = await Promise.all([temporaryStore(path), temporaryStore(path)]);
  const writes = [];
  for (let index = 0; index < 500; index += 1) {
    writes.push(
      left.workstreams.create(workstream(`left${index}`)),
      right.workstreams.create(workstream(`right${index}`)),
    );
    if (index % 50 === 0) await Promise.all(writes);
  }
  expect((await Promise.all(writes)).every(Boolean)).toBe(true);
  expect((await left.workstreams.count()).idle).toBe(1000);
});

test("a lock of another process is waited for without standing still (STOR-08)", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const store = await temporaryStore(path);
  const other = new Database(path);
  other.exec("begin immediate");
  const settled: string[] = [];
  const write = store.workstreams.create(workstream("a")).finally(() => settled.push("written"));
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(settled).toEqual([]);
  other.exec("commit");
  other.close();
  await write;
  expect(await store.workstreams.get("a")).not.toBeNull();
});

// REQ-STORE-007
test("a full disk rejects with what to do, leaves nothing half written, and writing goes on when there is space", async () => {
  const connection = await openDatabase(join(temporaryFolder(), "turnstone.db"), MIGRATIONS, AT);
  onTestFinished(() => void connection.close());
  const sql = createSql(connection);
  const writer = createWriter(sql);
  const add = (name: string): number =>
    sql.run("insert into services values ('gateway', @name, '', @name, '', '')", { name });
  const pages = connection.pragma("page_count", { simple: true });
  connection.pragma(`max_page_count = ${String(pages)}`);
  const failing = writer.write(() => {
    add("half");
    add("x".repeat(2_000_000));
  });
  await expect(failing).rejects.toThrow("The disk that holds the database is full; free some space.");
  expect(sql.all("select service_id from services")).toEqual([]);
  connection.pragma("max_page_count = 100000");
  await writer.write(() => add("whole"));
  expect(sql.all("select service_id from services")).toEqual([{ service_id: "whole" }]);
});

test("writes of one turn of the event loop share a transaction, and one that fails takes only itself back", async () => {
  const connection = await openDatabase(join(temporaryFolder(), "turnstone.db"), MIGRATIONS, AT);
  onTestFinished(() => void connection.close());
  const sql = createSql(connection);
  const writer = createWriter(sql);
  const add = (name: string): number =>
    sql.run("insert into services values ('gateway', @name, '', '', '', '')", { name });
  const writes = ["a", "b", "a", "c"].map((name) => writer.write(() => add(name)));
  const outcomes = await Promise.allSettled(writes);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(sql.all("select service_id from services")).toEqual([
    { service_id: "a" },
    { service_id: "b" },
    { service_id: "c" },
  ]);
});
