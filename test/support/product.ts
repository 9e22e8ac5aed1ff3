import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newApiToken } from "../../src/auth/api_token.ts";
import { newUserRow } from "../../src/auth/setup.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openStore } from "../../src/store/index.ts";
import { startPractice, type PracticeDiscord, type PracticeOptions } from "../../gateway/practice/index.ts";
import { startModelServer, type ModelServer } from "./model_server/model_server.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** How long a process may take until it is ready, on a busy machine. */
const READY_MS = 60_000;

export interface ProductOptions {
  /** Added to `config.toml`. */
  config?: string;
  /** Added to the environment of server and gateway. */
  env?: Record<string, string>;
  /** Without the gateway and the practice Discord. */
  server_only?: boolean;
  /** How the practice Discord is set up. */
  practice?: PracticeOptions;
}

/**
 * A whole turnstone as people run it: real server and gateway processes, a practice Discord, and a model that plays
 * scripts.
 */
export interface Product {
  model: ModelServer;
  practice: PracticeDiscord;
  server_url: string;
  gateway_url: string;
  data_dir: string;
  workspace: string;
  /** Of the user ada, with all scopes. */
  token: string;
  /** Of the user ben, who may not approve. */
  token_of_ben: string;
  startServer(env?: Record<string, string>): Promise<void>;
  startGateway(env?: Record<string, string>): Promise<void>;
  /** As a power cut would: SIGKILL. Resolves when the process is gone. */
  killServer(): Promise<void>;
  killGateway(): Promise<void>;
  /** SIGTERM; answers the exit code. */
  stopServer(): Promise<number | null>;
  stopGateway(): Promise<number | null>;
  /** Resolves when the server process ends by itself. */
  serverEnded(): Promise<number | null>;
  gatewayEnded(): Promise<number | null>;
  api(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** `turnstone …` on the same data directory; answers the JSON that it prints. */
  turnstone(...args: string[]): Record<string, unknown>;
  /** What both processes have written to their logs. */
  log(): string;
  close(): Promise<void>;
}

/** Starts all of it in a temporary folder, with ada (approve) and ben (write) linked to their practice selves. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-product-"));
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(folder, "config.toml"), options.config ?? "");
  const model = await startModelServer();
  const practice = await startPractice(options.practice);
  const port = await freePort();
  const channel_port = await freePort();
  const server_url = `http://127.0.0.1:${port}`;
  let output = "";
  const addresses = { server_url, port, channel_port };
  const env = productEnvironment(folder, workspace, addresses, model, practice, options.env ?? {});
  const { token, token_of_ben } = await seedPeople(join(folder, "data"), practice);
  let server: OwnProcess | null = null;
  let gateway: OwnProcess | null = null;
  const start = (name: "server" | "gateway", extra: Record<string, string>): OwnProcess =>
    startProcess(name, { ...env, ...extra }, (text) => (output += text));
  const product: Product = {
    model,
    practice,
    server_url,
    gateway_url: `http://127.0.0.1:${channel_port}`,
    data_dir: join(folder, "data"),
    workspace,
    token,
    token_of_ben,
    async startServer(extra = {}) {
      server = start("server", extra);
      await answering(`${server_url}/health`, server, () => output);
    },
    async startGateway(extra = {}) {
      // Of a gateway that was killed a moment ago, the connection may still seem to be there.
      const before = practice.gateway.identified;
      gateway = start("gateway", { TURNSTONE_DISCORD_EDIT_INTERVAL_MS: "50", ...extra });
      await answering(`http://127.0.0.1:${channel_port}/health`, gateway, () => output);
      await practice.waitFor(() => practice.gateway.identified > before);
    },
    async killServer() {
      await endProcess(server, "SIGKILL");
    },
    async killGateway() {
      await endProcess(gateway, "SIGKILL");
    },
    stopServer: () => endProcess(server, "SIGTERM"),
    stopGateway: () => endProcess(gateway, "SIGTERM"),
    serverEnded: () => server?.ended ?? Promise.resolve(null),
    gatewayEnded: () => gateway?.ended ?? Promise.resolve(null),
    api: (method, path, body, as_token = token) => callApi(`${server_url}${path}`, method, body, as_token),
    turnstone: (...args) => runAdmin(args, env),
    log: () => output,
    async close() {
      await endProcess(gateway, "SIGKILL");
      await endProcess(server, "SIGKILL");
      await practice.close();
      await model.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await product.startServer();
  if (options.server_only !== true) await product.startGateway();
  return product;
}

function productEnvironment(
  folder: string,
  workspace: string,
  { server_url, port, channel_port }: { server_url: string; port: number; channel_port: number },
  model: ModelServer,
  practice: PracticeDiscord,
  extra: Record<string, string>,
): Record<string, string> {
  return {
    ...plainEnvironment(),
    TURNSTONE_DATA_DIR: join(folder, "data"),
    TURNSTONE_CONFIG: join(folder, "config.toml"),
    TURNSTONE_WORKSPACE: workspace,
    TURNSTONE_PORT: String(port),
    TURNSTONE_SERVER_URL: server_url,
    TURNSTONE_CHANNEL_PORT: String(channel_port),
    TURNSTONE_PROVIDER: "openai-compatible",
    TURNSTONE_BASE_URL: model.base_url,
    TURNSTONE_MODEL: "scripted",
    TURNSTONE_DISCORD_API: practice.api_url,
    TURNSTONE_DISCORD_TOKEN: practice.bot_token,
    TURNSTONE_LOG_FORMAT: "text",
    ...extra,
  };
}

function runAdmin(args: readonly string[], env: Record<string, string>): Record<string, unknown> {
  const program = [join(ROOT, "bin/turnstone.cjs"), ...args, "--json"];
  const run = spawnSync(process.execPath, program, { env, encoding: "utf8" });
  // A doctor that finds something says so with its exit code as well.
  if (run.status !== 0 && args[0] !== "doctor") {
    throw new Error(`turnstone ${args.join(" ")} failed: ${run.stderr}${run.stdout}`);
  }
  return JSON.parse(run.stdout) as Record<string, unknown>;
}

async function callApi(url: string, method: string, body: unknown, token: string): ReturnType<Product["api"]> {
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** Ada may approve, Ben may write, Cleo is a stranger. Answers the tokens of both. */
async function seedPeople(
  data_dir: string,
  practice: PracticeDiscord,
): Promise<Pick<Product, "token" | "token_of_ben">> {
  mkdirSync(data_dir, { mode: 0o700 });
  const store = await openStore({ path: join(data_dir, "turnstone.db") });
  const created = new Date().toISOString();
  const tokens = { token: "", token_of_ben: "" };
  for (const [name, scopes] of [
    ["Ada", "read,write,approve"],
    ["Ben", "read,write"],
  ] as const) {
    const row = await newUserRow({ username: name, display_name: name, password: null, scopes }, systemClock);
    if (row === null) throw new Error(`${name} is no name.`);
    await store.users.create(row);
    const { user_id } = row;
    await store.channels.link({
      channel_type: "discord",
      channel_user_id: practice.userId(name),
      user_id,
      scopes,
      created,
    });
    const made = newApiToken({ user_id, name: "test", scopes, created, expires: null });
    await store.users.createToken(made.row);
    tokens[name === "Ada" ? "token" : "token_of_ben"] = made.token;
  }
  await store.close();
  return tokens;
}

interface OwnProcess {
  child: ChildProcess;
  ended: Promise<number | null>;
}

function startProcess(
  name: "server" | "gateway",
  env: Record<string, string>,
  onOutput: (text: string) => void,
): OwnProcess {
  const program = name === "server" ? [join(ROOT, "bin/turnstone.cjs"), "server"] : [join(ROOT, "gateway/main.ts")];
  const child = spawn(process.execPath, program, { env, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.setEncoding("utf8").on("data", onOutput);
  child.stderr.setEncoding("utf8").on("data", onOutput);
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return { child, ended };
}

async function endProcess(own: OwnProcess | null, signal: NodeJS.Signals): Promise<number | null> {
  if (own === null) return null;
  if (own.child.exitCode === null && own.child.signalCode === null) own.child.kill(signal);
  return own.ended;
}

/** What a program needs of this machine, and none of the secrets that a developer's shell may hold. */
function plainEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "LANG", "TMPDIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

async function answering(url: string, own: OwnProcess, log: () => string): Promise<void> {
  const deadline = AbortSignal.timeout(READY_MS);
  while (!deadline.aborted && own.child.exitCode === null && own.child.signalCode === null) {
    try {
      if ((await fetch(url, { signal: deadline })).ok) return;
    } catch {
      // Not listening yet: asked again in a moment.
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Nothing answers at ${url}:\n${log()}`);
}

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
