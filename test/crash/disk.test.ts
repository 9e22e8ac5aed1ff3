import Database from "better-sqlite3";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
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

async function newWorkstream(running: Product): Promise<string> {
  const created = await running.api("POST", "/v1/api/workstreams/new", {});
  return String(created.body["ws_id"]);
}

function say(running: Product, ws_id: string, message: string, client_send_id: string) {
  return running.api("POST", `/v1/api/workstreams/${ws_id}/send`, { message, client_send_id });
}

/** The agent's words so far. */
async function answers(running: Product, ws_id: string): Promise<string[]> {
  const { body } = await running.api("GET", `/v1/api/workstreams/${ws_id}/history`);
  const messages = body["messages"] as { role: string; content: string }[];
  return messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
}

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

test("a full disk: the message is refused with the reason, the running turn waits, and both go on when there is room", async (context) => {
  const disk = littleDisk();
  if (disk === null) return context.skip("Mounting a little disk needs root.");
  product = await startProduct({ server_only: true });
  const running = product;
  const waiting = reply.gate(reply.text("I waited for room."));
  running.model.script((request) => {
    if (request.last_user_text.startsWith("first")) return waiting.reply;
    return reply.text("Here I am.");
  });
  const [busy, other] = [await newWorkstream(running), await newWorkstream(running)];
  await say(running, busy, "first", "a");
  await running.model.nextRequest();
  const makeRoom = fill(disk);
  // The database's log still has some room of its own.
  let refused = await say(running, other, "x".repeat(200_000), "b0");
  let count = 0;
  while (refused.status === 200) refused = await say(running, other, "x".repeat(200_000), `b${(count += 1)}`);
  expect(refused).toMatchObject({ status: 503, body: { code: "store_unavailable" } });
  expect(refused.body["error"]).toMatch(/nothing was done; try again soon\. The disk .* is full/);
  waiting.open();
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
