import { fork, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nowMicroseconds } from "./model.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A server under measurement: the floor or turnstone, driven in the same way. */
export interface Subject {
  name: "floor" | "turnstone";
  pid: number;
  start_ms: number;
  /** Requests of one keep-alive client. */
  post(path: string, body: object): Promise<Record<string, unknown>>;
  newWorkstream(): Promise<string>;
  send(ws_id: string, message: string): Promise<void>;
  /** Opens a stream; `onEvent` is called with each event and the time of its arrival in microseconds. */
  stream(ws_id: string, onEvent: (event: StreamEvent, at: number) => void): Promise<() => void>;
  stop(): Promise<void>;
}

export interface StreamEvent {
  type: string;
  text?: string;
  outcome?: string;
}

/** The model's process. */
export interface BenchModel {
  url: string;
  /** What it saw since the last call. */
  observed(): Promise<{ received: number; answered: number; bytes: number }[]>;
  stop(): void;
}

export async function startModel(): Promise<BenchModel> {
  const child = fork(join(ROOT, "test/bench/model.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [message] = (await once(child, "message")) as [{ port: number }];
  const url = `http://127.0.0.1:${message.port}`;
  return {
    url: `${url}/v1`,
    observed: async () =>
      (await (await fetch(`${url}/observed`)).json()) as Awaited<ReturnType<BenchModel["observed"]>>,
    stop: () => child.kill(),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Starts a subject in a fresh folder, or in `folder` when given. */
export async function startSubject(name: Subject["name"], model: BenchModel, folder?: string): Promise<Subject> {
  const own = folder ?? mkdtempSync(join(tmpdir(), `bench-${name}-`));
  const workspace = join(own, "workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(name === "floor" ? own : workspace, "bench.txt"), "one line\n".repeat(20));
  const port = await freePort();
  const token = name === "floor" ? "" : createToken(own);
  const began = nowMicroseconds();
  const child = name === "floor" ? startFloor(own, port, model) : startTurnstone(own, port, model);
  await answering(port, child);
  const start_ms = (nowMicroseconds() - began) / 1000;
  return drive(name, child, port, token, start_ms, () => {
    if (folder === undefined) rmSync(own, { recursive: true, force: true });
  });
}

function startFloor(folder: string, port: number, model: BenchModel): ChildProcess {
  const env = { ...process.env, FLOOR_FOLDER: folder, FLOOR_MODEL: model.url, FLOOR_PORT: String(port) };
  // As plain JavaScript: removing the types is no work that any such server must do.
  const program = join(ROOT, "node_modules/.cache/turnstone/floor.mjs");
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, stripTypeScriptTypes(readFileSync(join(ROOT, "test/bench/floor.ts"), "utf8")));
  return spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "inherit"] });
}

function environmentOf(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    TURNSTONE_DATA_DIR: join(folder, "data"),
    TURNSTONE_CONFIG: join(folder, "config.toml"),
    TURNSTONE_WORKSPACE: join(folder, "workspace"),
    TURNSTONE_RATELIMIT: "off",
    TURNSTONE_LOG_LEVEL: "error",
  };
}

function createToken(folder: string): string {
  writeFileSync(join(folder, "config.toml"), "");
  const run = spawnSyncJson(
    ["admin", "create-user", "--username", "bench", "--token", "--scopes", "read,write,approve", "--json"],
    folder,
  );
  return String(run["token"]);
}

function spawnSyncJson(args: string[], folder: string): Record<string, unknown> {
  const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, "bin/turnstone.cjs"), ...args], {
    env: environmentOf(folder),
    encoding: "utf8",
  });
  try {
    return JSON.parse(stdout) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`turnstone ${args.join(" ")} failed: ${stderr}`, { cause });
  }
}

function startTurnstone(folder: string, port: number, model: BenchModel): ChildProcess {
  const env = {
    ...environmentOf(folder),
    TURNSTONE_PORT: String(port),
    TURNSTONE_BASE_URL: model.url,
    TURNSTONE_MODEL: "bench",
    TURNSTONE_PROVIDER: "openai-compatible",
  };
  const flags = createRequire(import.meta.url)("../../bin/node_flags.cjs") as string[];
  return spawn(process.execPath, [...flags, join(ROOT, "bin/turnstone.cjs"), "server"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

async function answering(port: number, child: ChildProcess): Promise<void> {
  const ended = once(child, "exit").then(() => {
    throw new Error("The server under measurement ended before it answered.");
  });
  const ready = (async () => {
    for (;;) {
      try {
        if ((await fetch(`http://127.0.0.1:${port}/health`)).ok) return;
      } catch {
        // Not listening yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  await Promise.race([ready, ended]);
}

function drive(
  name: Subject["name"],
  child: ChildProcess,
  port: number,
  token: string,
  start_ms: number,
  cleanUp: () => void,
): Subject {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  const post = (path: string, body: object): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const options = { agent, host: "127.0.0.1", port, path, method: "POST" };
      const sent = httpRequest(
        {
          ...options,
          headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(text) },
        },
        (response) => {
          let answer = "";
          response.setEncoding("utf8").on("data", (piece: string) => (answer += piece));
          response.on("end", () => {
            if (response.statusCode !== 200) reject(new Error(`${path} answered ${response.statusCode}: ${answer}`));
            else resolve(JSON.parse(answer) as Record<string, unknown>);
          });
        },
      );
      sent.on("error", reject);
      sent.end(text);
    });
  return {
    name,
    pid: child.pid ?? 0,
    start_ms,
    post,
    newWorkstream: async () => String((await post("/v1/api/workstreams/new", {}))["ws_id"]),
    send: async (ws_id, message) => void (await post(`/v1/api/workstreams/${ws_id}/send`, { message })),
    stream: (ws_id, onEvent) => openStream(port, headers, ws_id, onEvent),
    async stop() {
      agent.destroy();
      child.kill("SIGTERM");
      await once(child, "exit");
      cleanUp();
    },
  };
}

function openStream(
  port: number,
  headers: Record<string, string>,
  ws_id: string,
  onEvent: (event: StreamEvent, at: number) => void,
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const path = `/v1/api/workstreams/${ws_id}/events`;
    const sent = httpRequest({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
      let rest = "";
      let opened = false;
      response.setEncoding("utf8").on("data", (piece: string) => {
        const at = nowMicroseconds();
        rest += piece;
        const frames = rest.split("\n\n");
        rest = frames.pop() ?? "";
        for (const frame of frames) {
          const start = frame.indexOf("data: ");
          if (start === -1) continue;
          const event = JSON.parse(frame.slice(start + 6)) as StreamEvent;
          if (!opened) {
            opened = true;
            resolve(() => sent.destroy());
          }
          onEvent(event, at);
        }
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Seconds of CPU that a process has used. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory in MB. */
export function residentMegabytes(pid: number): number {
  const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1024;
}
