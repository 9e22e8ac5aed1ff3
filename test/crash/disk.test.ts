import Database from "better-sqlite3";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { answers, eventually, newWorkstream, say } from "../support/api_talk.ts";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product | null = null;
const cleanups: (() => void)[] = [];

afterEach(async () => {
  await product?.close();
  product = null;
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup();
});

/** Bytes of the little disk: enough for a start, little enough to be filled at once. */
const DISK = "32m";

/** A disk of its own in memory, as the folder for everything temporary; null where that is not allowed. */
function littleDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK}`, "tmpfs", folder]);
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    return null;
  }
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  cleanups.push(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    spawnSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Takes all room that is left, and gives it back. */
function fill(folder: string): () => void {
  const file = join(folder, "filler");
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize));
  } catch {
    // What could be written is what was there.
  }
  return () => rmSync(file);
}

/** Lets the server's processes write no byte more to any file, as a disk does that has turned read-only; or as they like. */
function letWrite(running: Product, allowed: boolean): void {
  const mark = `TURNSTONE_DATA_DIR=${running.data_dir}`;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (environmentOf(pid).includes(mark)) {
      spawnSync("prlimit", ["--pid", pid, `--fsize=${allowed ? "unlimited" : "0"}:unlimited`]);
    }
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/** A conversation whose turn runs until it is let go on, and one that nobody has used. */
async function busyAndOther(running: Product, words: string) {
  const waiting = reply.gate(reply.text(words));
  running.model.script((request) => {
    if (request.last_user_text.startsWith("first")) return waiting.reply;
    return reply.text("Here I am.");
  });
  const [busy, other] = [await newWorkstream(running), await newWorkstream(running)];
  await say(running, busy, "first", "a");
  await running.model.nextRequest();
  return { busy, other, goOn: () => waiting.open() };
}

test("a full disk: the message is refused with the reason, the running turn waits, and both go on when there is room", async (context) => {
  const disk = littleDisk();
  if (disk === null) return context.skip("Mounting a little disk needs root.");
  product = await startProduct({ server_only: true });
  const running = product;
  const { busy, other, goOn } = await busyAndOther(running, "I waited for room.");
  const makeRoom = fill(disk);
  // The database's log still has some room of its own.
  let refused = await say(running, other, "x".repeat(200_000), "b0");
  let count = 0;
  while (refused.status === 200) refused = await say(running, other, "x".repeat(200_000), `b${(count += 1)}`);
  expect(refused).toMatchObject({ status: 503, body: { code: "store_unavailable" } });
  expect(refused.body["error"]).toMatch(/nothing was done; try again soon\. The disk .* is full/);
  goOn();
  await eventually(async () => running.log().includes("journal.write_failed"));
  makeRoom();
  expect(await say(running, other, "again", `b${count}`)).toMatchObject({ status: 200 });
  await eventually(async () => (await answers(running, busy)).includes("I waited for room."));
  await eventually(async () => (await answers(running, other)).includes("Here I am."));
}, 90_000);

test("a database that another process keeps locked: the message is refused with the reason, and taken when it is free (STOR-08)", async () => {
  product = await startProduct({ server_only: true });
  const running = product;
  running.model.script(() => reply.text("Here I am."));
  const ws_id = await newWorkstream(running);
  const other = new Database(join(running.data_dir, "turnstone.db"));
  cleanups.push(() => other.close());
  other.exec("begin immediate");
  const refused = await say(running, ws_id, "hello", "a");
  expect(refused).toMatchObject({ status: 503, body: { code: "store_unavailable" } });
  expect(refused.body["error"]).toContain("Another process holds the database locked");
  other.exec("rollback");
  expect(await say(running, ws_id, "hello", "a")).toMatchObject({ status: 200 });
  await eventually(async () => (await answers(running, ws_id)).includes("Here I am."));
}, 90_000);

test("a disk that takes no more: the message is refused with the reason, the running turn waits, and both go on when it does", async (context) => {
  if (process.platform !== "linux") return context.skip("Only Linux can forbid a running program to write.");
  product = await startProduct({ server_only: true });
  const running = product;
  const { busy, other, goOn } = await busyAndOther(running, "I waited for the disk.");
  letWrite(running, false);
  const refused = await say(running, other, "hello", "b");
  expect(refused).toMatchObject({ status: 503, body: { code: "store_unavailable" } });
  expect(refused.body["error"]).toMatch(/nothing was done; try again soon\. The disk .* gave an error/);
  goOn();
  await eventually(async () => running.log().includes("journal.write_failed"));
  letWrite(running, true);
  expect(await say(running, other, "hello", "b")).toMatchObject({ status: 200 });
  await eventually(async () => (await answers(running, busy)).includes("I waited for the disk."));
  await eventually(async () => (await answers(running, other)).join() === "Here I am.");
}, 90_000);

test("a data directory on a disk that is read-only is refused with the reason", async (context) => {
  const disk = littleDisk();
  if (disk === null) return context.skip("Mounting a little disk needs root.");
  product = await startProduct({ server_only: true });
  await product.stopServer();
  spawnSync("mount", ["-o", "remount,ro", disk]);
  await expect(product.startServer()).rejects.toThrow("the file system is read-only");
  spawnSync("mount", ["-o", "remount,rw", disk]);
  await product.startServer();
}, 90_000);
