import Database from "better-sqlite3";
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { answers, eventually, newWorkstream, say } from "../support/api_talk.ts";
import { messagesOf } from "../support/crash_people.ts";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product | null = null;

afterEach(async () => {
  await product?.close();
  product = null;
});

const PAGE_BYTES = 4096;
/** What a page of the long message holds, but for the number of the page after it. */
const WORDS = "remember this ";

test("a damaged page: the start is refused with what to do, and a restored backup has all that was there", async () => {
  product = await startProduct({ server_only: true });
  const running = product;
  running.model.script(() => reply.text("Here I am."));
  const ws_id = await newWorkstream(running);
  await say(running, ws_id, WORDS.repeat(6000), "a");
  await eventually(async () => (await answers(running, ws_id)).includes("Here I am."));
  const copy = join(running.data_dir, "..", "copy.db");
  running.turnstone("admin", "backup", copy);
  await running.stopServer();
  damageMiddle(join(running.data_dir, "turnstone.db"));
  await expect(running.startServer()).rejects.toThrow(
    "The database file is damaged; restore a backup with `turnstone admin restore`.",
  );
  expect(await running.serverEnded()).toBe(1);
  running.turnstone("admin", "restore", copy);
  await running.startServer();
  expect(await answers(running, ws_id)).toEqual(["Here I am."]);
}, 90_000);

test("a page that is damaged while the server runs: its conversation's people are told, others go on, and a restored backup mends it", async () => {
  product = await startProduct();
  const running = product;
  const { practice, model } = running;
  model.script((request) => reply.text(`I have heard: ${request.last_user_text.trim().split(" ").at(-1)}.`));
  const mention = (words: string) => practice.as("Ada").say("general", `<@${practice.bot_id}> ${words}`).id;
  const sees = (thread: string, text: string) =>
    practice.waitFor(
      () => messagesOf(running, thread).some((message) => practice.messageAsText(message).includes(text)),
      { timeout_ms: 20_000 },
    );
  const [hurt, whole] = [mention("hurt begins"), mention("whole begins")];
  await sees(hurt, "I have heard: begins.");
  await sees(whole, "I have heard: begins.");
  const path = join(running.data_dir, "turnstone.db");
  const hurt_ws = workstreamIn(path, hurt);
  await say(running, hurt_ws, `${WORDS.repeat(6000)} to the end`, "long");
  await sees(hurt, "I have heard: end.");
  const copy = join(running.data_dir, "..", "copy.db");
  running.turnstone("admin", "backup", copy);
  await running.stopServer();
  letRest(path, hurt_ws);
  await running.startServer();
  expect(damagePagesOf(path, WORDS)).toBeGreaterThan(3);

  practice.as("Ada").say(hurt, "and what now?");
  await sees(
    hurt,
    "A part of the database is damaged, so this cannot be done; whoever runs the server must restore a backup",
  );
  practice.as("Ada").say(whole, "you go on");
  await sees(whole, "I have heard: on.");
  const third = mention("a third begins");
  await sees(third, "I have heard: begins.");
  expect(await (await fetch(`${running.server_url}/health`)).json()).toMatchObject({
    status: "degraded",
    store: "damaged",
  });
  expect(practice.as("Ada").channelAsText(hurt)).not.toContain("heard: now?");
  const spoilt = join(running.data_dir, "..", "spoilt.db");
  expect(() => running.turnstone("admin", "backup", spoilt)).toThrow("The database file is damaged");
  expect(existsSync(spoilt)).toBe(false);

  await running.stopServer();
  running.turnstone("admin", "restore", copy);
  await running.startServer();
  expect(await (await fetch(`${running.server_url}/health`)).json()).toMatchObject({ status: "ok", store: "up" });
  expect(await answers(running, hurt_ws)).toEqual(["I have heard: begins.", "I have heard: end."]);
  practice.as("Ada").say(hurt, "all well again");
  await sees(hurt, "I have heard: again.");
}, 120_000);

/** Overwrites the pages that hold the long message, in the middle of the file. */
function damageMiddle(path: string): void {
  const { size } = statSync(path);
  const bytes = readFileSync(path);
  bytes.fill(0xff, Math.floor(size / 2), Math.floor(size / 2) + 65_536);
  writeFileSync(path, bytes);
}

/** Overwrites, in the file that a server has open, the pages that hold nothing but these words; answers how many. */
function damagePagesOf(path: string, words: string): number {
  const database = new Database(path);
  database.pragma("wal_checkpoint(truncate)");
  database.close();
  const pattern = words.repeat(Math.ceil((PAGE_BYTES * 2) / words.length));
  const file = openSync(path, "r+");
  const page = Buffer.alloc(PAGE_BYTES);
  let count = 0;
  for (let at = 0; readSync(file, page, 0, PAGE_BYTES, at) === PAGE_BYTES; at += PAGE_BYTES) {
    // The first bytes name the next page.
    if (!pattern.includes(page.toString("latin1", 4))) continue;
    writeSync(file, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, at);
    count += 1;
  }
  closeSync(file);
  return count;
}

function workstreamIn(path: string, thread: string): string {
  const database = new Database(path, { readonly: true });
  const row = database.prepare("select ws_id from channel_routes where channel_id = ?").pluck().get(thread);
  database.close();
  return String(row);
}

/** As if nobody had used it for a day: a start reads only what was used just before it. */
function letRest(path: string, ws_id: string): void {
  const database = new Database(path);
  database.prepare("update workstreams set updated = '2026-01-01T00:00:00.000Z' where ws_id = ?").run(ws_id);
  database.close();
}
