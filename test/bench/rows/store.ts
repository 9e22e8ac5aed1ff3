import Database from "better-sqlite3";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Store } from "../../../src/contracts/store.ts";
import { newId } from "../../../src/lib/ids.ts";
import { openStore } from "../../../src/store/index.ts";
import { newWorkstreamRow } from "../../../src/workstream/new_row.ts";
import { startEngine } from "../../support/engine_rig.ts";
import { says, ScriptedProvider } from "../../support/scripted_provider.ts";
import { freePort } from "../../support/product.ts";
import { median, type Row } from "../measure.ts";

const LAUNCHER = fileURLToPath(new URL("../../../bin/turnstone.cjs", import.meta.url));
const AT = "2026-01-01T00:00:00.000Z";

const APPENDS = 400;
const UNFINISHED = 1000;
const IDLE = 10_000;
const STARTS = 5;
const RECOVERY_MS = 3000;
const IDLE_START_MS = 200;
const IDLE_MIB = 5;

/** What keeping things costs, and what is kept costs later. */
export async function storeRows(): Promise<Row[]> {
  return [await appendRow(), await recoveryRow(), ...(await idleRows())];
}

async function inFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function idleRow(ws_id: string): ReturnType<typeof newWorkstreamRow> {
  const whose = { user_id: null, model_alias: null, auto_approve: false, auto_approve_tools: [] };
  return newWorkstreamRow({ ws_id, name: ws_id, kind: "main", ...whose, created: AT });
}

/** One durable entry, beside one durable row of a plain table. */
function appendRow(): Promise<Row> {
  return inFolder(async (folder) => {
    const plain = new Database(join(folder, "plain.db"));
    plain.pragma("journal_mode = wal");
    plain.pragma("synchronous = full");
    plain.exec("create table entries (ws_id text, seq integer, at text, event text, primary key (ws_id, seq))");
    const insert = plain.prepare("insert into entries values (?, ?, ?, ?)");
    const store = await openStore({ path: join(folder, "turnstone.db") });
    const ws_id = newId();
    await store.workstreams.create(idleRow(ws_id));
    const times = { plain: [] as number[], store: [] as number[] };
    // In turn, so that a drift of the disk meets both.
    for (let seq = 1; seq <= APPENDS; seq += 1) {
      const event = { type: "info" as const, message: `entry ${seq} of this run` };
      let before = performance.now();
      insert.run(ws_id, seq, AT, JSON.stringify(event));
      times.plain.push(performance.now() - before);
      before = performance.now();
      await store.journal.commit({ ws_id, at: AT, entries: [{ ws_id, seq, at: AT, event }] });
      times.store.push(performance.now() - before);
    }
    plain.close();
    await store.close();
    return {
      name: "journal: an entry, beside an insert",
      unit: "ms",
      floor: median(times.plain),
      turnstone: median(times.store),
      bar: 1.5,
    };
  });
}

/** A start that finds a thousand turns which a crash has cut off: until each has ended. */
async function recoveryRow(): Promise<Row> {
  const provider = new ScriptedProvider().script(...Array.from({ length: UNFINISHED }, () => says("Here I am.")));
  const rig = await startEngine({ provider });
  for (let index = 0; index < UNFINISHED; index += 1) await cutOff(rig.store, newId());
  const ended = Promise.withResolvers<void>();
  let count = 0;
  rig.bus.subscribeAll(({ event }) => {
    if (event.type === "turn_ended" && (count += 1) === UNFINISHED) ended.resolve();
  });
  const before = performance.now();
  await rig.engine.recover();
  await ended.promise;
  const turnstone = performance.now() - before;
  await rig.close();
  return { name: "recovery: 1,000 turns, beside its limit", unit: "ms", floor: RECOVERY_MS, turnstone, bar: 1 };
}

async function cutOff(store: Store, ws_id: string): Promise<void> {
  await store.workstreams.create(idleRow(ws_id));
  const event = { type: "user_turn" as const, content: "hello", client_send_ids: [] };
  const entries = [{ ws_id, seq: 1, at: AT, event }];
  await store.journal.commit({ ws_id, at: AT, entries, state: "thinking", turn_open: true });
}

/** What ten thousand workstreams at rest add to a start and to the memory after it. */
function idleRows(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const [empty, full] = [join(folder, "empty"), join(folder, "full")];
    await startServer(empty);
    await startServer(full);
    const store = await openStore({ path: join(full, "turnstone.db") });
    for (let index = 0; index < IDLE; index += 1) {
      const ws_id = newId();
      await store.workstreams.create(idleRow(ws_id));
      const event = { type: "user_turn" as const, content: "hello", client_send_ids: [] };
      await store.journal.commit({ ws_id, at: AT, entries: [{ ws_id, seq: 1, at: AT, event }] });
    }
    await store.close();
    const seen = { empty: [] as Started[], full: [] as Started[] };
    for (let run = 0; run < STARTS; run += 1) {
      seen.empty.push(await startServer(empty));
      seen.full.push(await startServer(full));
    }
    const added = (figure: keyof Started): number =>
      Math.max(0, median(seen.full.map((one) => one[figure])) - median(seen.empty.map((one) => one[figure])));
    return [
      {
        name: "10,000 at rest: start, beside its limit",
        unit: "ms",
        floor: IDLE_START_MS,
        turnstone: added("start_ms"),
        bar: 1,
      },
      {
        name: "10,000 at rest: memory, beside its limit",
        unit: "MiB",
        floor: IDLE_MIB,
        turnstone: added("mib"),
        bar: 1,
      },
    ];
  });
}

interface Started {
  start_ms: number;
  mib: number;
}

/** Starts a server on a data directory, looks at it, and ends it. */
async function startServer(data_dir: string): Promise<Started> {
  const port = await freePort();
  const env = {
    PATH: process.env["PATH"],
    HOME: data_dir,
    TURNSTONE_DATA_DIR: data_dir,
    TURNSTONE_PORT: String(port),
    TURNSTONE_PROVIDER: "demo",
    TURNSTONE_LOG_LEVEL: "error",
  };
  const before = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, "server"], { env, stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  while (!(await isHealthy(port))) await new Promise((resolve) => setTimeout(resolve, 2));
  const start_ms = performance.now() - before;
  // What the start leaves behind is tidied up meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const mib = residentMib(child.pid ?? 0);
  child.kill("SIGTERM");
  await ended;
  return { start_ms, mib };
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
  } catch {
    return false;
  }
}

function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
}
