import Database from "better-sqlite3";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Tool } from "../../../src/contracts/tool.ts";
import { createSpawner, type Spawner } from "../../../src/lib/spawn.ts";
import { openStore } from "../../../src/store/index.ts";
import { ownerTerm } from "../../../src/store/search_query.ts";
import { createBash } from "../../../src/tools/bash.ts";
import { createMath } from "../../../src/tools/math.ts";
import { createSearch } from "../../../src/tools/search.ts";
import { toolBench } from "../../support/tool_context.ts";
import { median, type Row } from "../measure.ts";

const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
const isolation = { sandbox: null, required: false, reason: "off for measuring" };

const SAMPLES = 25;
/** Between two runs, as between two commands there is the answer of a model. */
const BREATH_MS = 40;
const BALLAST_BYTES = 500 * 1024 * 1024;
const TREE_FILES = 20_000;
const TREE_FOLDERS = 200;
const MEMORIES = 1_000_000;
const OWNERS = 100;
/** Milliseconds that a warm calculation may take, and that a search may hold everything else up. */
const MATH_WARM_MS = 100;
const BLOCK_MS = 20;

/** What tools cost beside the bare program. */
export async function toolRows(): Promise<Row[]> {
  const spawner = createSpawner({ env });
  try {
    return [
      ...(await bashRows(spawner)),
      ...(await mathRows(spawner)),
      ...(await searchRows(spawner)),
      ...(await recallRows()),
    ];
  } finally {
    await spawner.close();
  }
}

/** The median of so many runs, in milliseconds; one before the clock counts. */
async function timed(run: () => unknown, samples = SAMPLES): Promise<number> {
  await run();
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const before = performance.now();
    await run();
    times.push(performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, BREATH_MS));
  }
  return median(times);
}

/** What starting a program costs a process that holds nothing: measured in one of its own. */
function bareSpawn(command: readonly string[], cwd: string): number {
  const program = `
    const { spawn } = require("node:child_process");
    const run = () => new Promise((resolve) => {
      const child = spawn(${JSON.stringify(command[0])}, ${JSON.stringify(command.slice(1))}, { cwd: ${JSON.stringify(cwd)}, env: ${JSON.stringify(env)}, stdio: ["ignore", "pipe", "pipe"] });
      child.stdout.resume();
      child.stderr.resume();
      child.on("close", resolve);
    });
    (async () => {
      await run();
      const times = [];
      for (let sample = 0; sample < ${SAMPLES}; sample += 1) {
        const before = performance.now();
        await run();
        times.push(performance.now() - before);
        await new Promise((resolve) => setTimeout(resolve, ${BREATH_MS}));
      }
      console.log(times.sort((one, other) => one - other)[${Math.floor(SAMPLES / 2)}]);
    })();`;
  const run = spawnSync(process.execPath, ["-e", program], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(`The bare program could not be measured: ${run.stderr}`);
  return Number(run.stdout);
}

async function called(tool: Tool, args: Record<string, string>, spawner: Spawner): Promise<() => Promise<unknown>> {
  const bench = toolBench({ spawner });
  const preparation = await tool.prepare(args, bench.context);
  if (!preparation.ok) throw new Error(preparation.error);
  return async () => {
    const result = await tool.execute(preparation.plan, bench.context);
    if (result.is_error) throw new Error(result.output);
  };
}

async function bashRows(spawner: Spawner): Promise<Row[]> {
  const run = await called(createBash({ env, isolation }), { command: "true" }, spawner);
  const floor = bareSpawn(["bash", "-c", "true"], tmpdir());
  const small = await timed(run);
  const ballast = Buffer.alloc(BALLAST_BYTES, 1);
  const large = await timed(run);
  // Keeps what weighs until all was measured.
  ballast.fill(0, 0, 1);
  return [
    { name: "bash: a command", unit: "ms", floor, turnstone: small, bar: 1.2 },
    { name: "bash: the same with 500 MB more", unit: "ms", floor: small, turnstone: large, bar: 1.3 },
  ];
}

async function mathRows(spawner: Spawner): Promise<Row[]> {
  const imports = await timed(() => spawnSync("python3", ["-c", "import sympy, numpy, scipy"], { env }), 3);
  const firsts: number[] = [];
  let warm = Number.NaN;
  for (let sample = 0; sample < 3; sample += 1) {
    const run = await called(createMath({ env, isolation, python: undefined }), { code: "1 + 1" }, spawner);
    const before = performance.now();
    await run();
    firsts.push(performance.now() - before);
    warm = await timed(run);
  }
  return [
    { name: "math: the first", unit: "ms", floor: imports, turnstone: median(firsts), bar: 1.5 },
    { name: "math: warm, beside its limit", unit: "ms", floor: MATH_WARM_MS, turnstone: warm, bar: 1 },
  ];
}

async function searchRows(spawner: Spawner): Promise<Row[]> {
  const bench = toolBench({ spawner });
  for (let folder = 0; folder < TREE_FOLDERS; folder += 1) {
    mkdirSync(bench.path(`folder${folder}`));
    for (let file = 0; file < TREE_FILES / TREE_FOLDERS; file += 1) {
      const needle = folder % 20 === 0 && file === 0 ? "needle in a haystack\n" : "";
      writeFileSync(bench.path(`folder${folder}`, `file${file}.txt`), `${"some words of hay\n".repeat(50)}${needle}`);
    }
  }
  const tool = createSearch({ env, hidden_paths: [] });
  const ripgrep = spawnSync("rg", ["--version"], { env }).status === 0;
  const bare = ripgrep ? ["rg", "--hidden", "needle", "."] : ["grep", "-rnI", "needle", "."];
  const turnstone = await timed(async () => {
    const result = await bench.call(tool, { query: "needle" });
    if (!result.prepared || !result.output.includes("needle in a haystack")) throw new Error("The needle is lost.");
  });
  const floor = bareSpawn(bare, bench.root);
  bench.remove();
  return [{ name: `search: 20,000 files, beside ${bare[0]}`, unit: "ms", floor, turnstone, bar: 1.5 }];
}

const QUERY = "harbour timetable";

async function recallRows(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-bench-"));
  const path = join(folder, "turnstone.db");
  await (await openStore({ path })).close();
  const filler = new Database(path);
  fillMemories(filler);
  const bare = filler.prepare(
    "select rowid from memory_search where memory_search match ? order by bm25(memory_search) limit 20",
  );
  const floor = await timed(() => bare.all('{key value} : ("harbour" AND "timetable")'));
  filler.close();
  const store = await openStore({ path });
  const reach = { user_id: "user1", workspace: "/nowhere" };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await store.memories.search(reach, QUERY, 20);
  delay.enable();
  const turnstone = await timed(async () => {
    const found = await store.memories.search(reach, QUERY, 20);
    if (found.length === 0) throw new Error("Nothing was recalled.");
  });
  delay.disable();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  return [
    { name: "recall: a million memories, beside FTS5", unit: "ms", floor, turnstone, bar: 2 },
    {
      name: "recall: longest block, beside its limit",
      unit: "ms",
      floor: BLOCK_MS,
      turnstone: delay.max / 1e6,
      bar: 1,
    },
  ];
}

/** Memories of a hundred people, of whom each has one in a thousand about what is asked for. */
function fillMemories(connection: Database.Database): void {
  connection.pragma("synchronous = off");
  const at = new Date(0).toISOString();
  const row = connection.prepare(
    `insert into memories (memory_number, memory_id, scope, owner, key, value, created, updated, used)
     values (?, ?, 'user', ?, ?, ?, '${at}', '${at}', '${at}')`,
  );
  const entry = connection.prepare("insert into memory_search (rowid, owner, key, value) values (?, ?, ?, ?)");
  connection.transaction(() => {
    for (let number = 1; number <= MEMORIES; number += 1) {
      const owner = number % OWNERS;
      const about = number % 1000 < OWNERS ? "harbour timetable of the ferry" : `something about word${number % 5000}`;
      const value = `${about}, noted as number ${number}`;
      row.run(number, `memory${number}`, `user${owner}`, `key${number}`, value);
      entry.run(number, ownerTerm("user", `user${owner}`), `key${number}`, value);
    }
  })();
}
