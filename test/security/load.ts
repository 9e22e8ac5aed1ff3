import { readdirSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

/**
 * Load on a real server: `node test/security/load.ts [seconds]`. 500 readers of streams, of which 50 never read, while
 * turns stream text and 200 requests a second are made. Prints memory over time and the times of `/health`; exit code 1
 * when the promised figures are missed. Memory is judged after the warm-up, in which the heap has its first full
 * collection and the deaf readers are cut: a run of less than 180 seconds says less about it.
 */

const SECONDS = Number(process.argv[2] ?? 180);
const READERS = 450;
const DEAF_READERS = 50;
const WORKSTREAMS = 5;
const REQUESTS_PER_SECOND = 200;
/** Every so many requests one asks for `/health`. */
const HEALTH_EVERY = 4;

const HEALTH_P99_MS_MAX = 50;
/** The first part of a run is the warm-up; its end and the last part are compared. */
const PARTS = 3;
/** Seconds after the warm-up whose median is the measure. */
const MEASURE_S = 10;
/** Growth that still counts as flat: what a heap of this size varies by between two full collections. */
const GROWTH_MIB_MAX = 32;
/** What all of it may take: a plateau far above what is in use would be flat as well. */
const MEMORY_MIB_MAX = 256;

async function main(): Promise<void> {
  const product = await startProduct({ server_only: true, env: { TURNSTONE_RATELIMIT: "off" } });
  const words = Array.from({ length: 400 }, (_, index) => `word ${index} `);
  product.model.script(() => reply.text(words.join(""), { chunks: words, pace_ms: 100 }));
  const stop = new AbortController();
  const sockets: Socket[] = [];
  try {
    const ids = await Promise.all(
      Array.from({ length: WORKSTREAMS }, async () =>
        String((await product.api("POST", "/v1/api/workstreams/new", {})).body["ws_id"]),
      ),
    );
    for (let index = 0; index < READERS + DEAF_READERS; index += 1) {
      sockets.push(openReader(product, ids[index % ids.length] ?? "", index >= READERS));
    }
    await Promise.all(sockets.map((socket) => opened(socket)));
    const talking = ids.map((ws_id) => keepTalking(product, ws_id, stop.signal));
    const report = await measure(product);
    stop.abort();
    await Promise.all(talking);
    tell(report);
  } finally {
    for (const socket of sockets) socket.destroy();
    await product.close();
  }
}

/** Resolves when the server has begun to answer; one that never reads leaves the answer where it is. */
function opened(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once(socket.isPaused() ? "connect" : "data", () => resolve()));
}

function openReader({ server_url, token }: Product, ws_id: string, deaf: boolean): Socket {
  const { hostname, port } = new URL(server_url);
  const socket = connect(Number(port), hostname);
  const head = `Host: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  socket.write(`GET /v1/api/workstreams/${ws_id}/events HTTP/1.1\r\n${head}`);
  socket.on("error", () => {});
  if (deaf) socket.pause();
  else socket.resume();
  return socket;
}

/** One turn after the other, so that there is always text on its way. */
async function keepTalking(product: Product, ws_id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await product.api("POST", `/v1/api/workstreams/${ws_id}/send`, { message: "go on" });
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

interface Report {
  memory_mib: number[];
  /** Of one processor, from 0 to 1. */
  processor_share: number;
  health_ms: number[];
  requests: number;
  failed: number;
}

async function measure(product: Product): Promise<Report> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const report: Report = { memory_mib: [], processor_share: 0, health_ms: [], requests: 0, failed: 0 };
  const running: Promise<void>[] = [];
  const processor_before = processorSeconds(product.data_dir);
  const began = performance.now();
  for (let count = 0; count < SECONDS * REQUESTS_PER_SECOND; count += 1) {
    const due = began + (count * 1000) / REQUESTS_PER_SECOND;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const health = count % HEALTH_EVERY === 0;
    running.push(askFor(product, agent, health ? "/health" : "/v1/api/workstreams", health, report));
    if (count % REQUESTS_PER_SECOND === 0) report.memory_mib.push(memoryMib(product.data_dir));
  }
  await Promise.all(running);
  const took_s = (performance.now() - began) / 1000;
  report.processor_share = (processorSeconds(product.data_dir) - processor_before) / took_s;
  agent.destroy();
  return report;
}

function askFor(
  { server_url, token }: Product,
  agent: Agent,
  path: string,
  health: boolean,
  report: Report,
): Promise<void> {
  const began = performance.now();
  return new Promise((resolve) => {
    const asked = get(server_url + path, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      if (answer.statusCode !== 200) report.failed += 1;
      answer.resume().on("end", () => {
        report.requests += 1;
        if (health) report.health_ms.push(performance.now() - began);
        resolve();
      });
    });
    asked.on("error", () => {
      report.failed += 1;
      resolve();
    });
  });
}

/** Processes that work on the data directory. */
function processesOf(data_dir: string): string[] {
  const mark = `TURNSTONE_DATA_DIR=${data_dir}`;
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && textOf(pid, "environ").includes(mark));
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

/** Resident memory of the server, in mebibytes. */
function memoryMib(data_dir: string): number {
  const sizes = processesOf(data_dir).map((pid) => Number(/VmRSS:\s+(\d+)/.exec(textOf(pid, "status"))?.[1] ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

/** Seconds of a processor that the server has used; Linux counts in hundredths. */
function processorSeconds(data_dir: string): number {
  const ticks = processesOf(data_dir).map((pid) => {
    const fields = textOf(pid, "stat").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  });
  return ticks.reduce((sum, count) => sum + count, 0) / 100;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tell({ memory_mib, processor_share, health_ms, requests, failed }: Report): void {
  const sorted = health_ms.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const warm = Math.floor(memory_mib.length / PARTS);
  const settled = median(memory_mib.slice(warm, warm + MEASURE_S));
  const grown = median(memory_mib.slice(-warm)) - settled;
  print(`requests ${requests}, failed ${failed}, server busy ${Math.round(processor_share * 100)} % of a processor`);
  print(`/health ms: p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, longest ${at(1).toFixed(1)}`);
  print(
    `memory MiB: ${memory_mib
      .filter((_, index) => index % 5 === 0)
      .map(Math.round)
      .join(" ")}, after the warm-up ${settled.toFixed(1)}, grown ${grown.toFixed(1)}`,
  );
  const flat = grown <= GROWTH_MIB_MAX && Math.max(...memory_mib) <= MEMORY_MIB_MAX;
  if (failed > 0 || at(0.99) > HEALTH_P99_MS_MAX || !flat) process.exitCode = 1;
}

await main();
