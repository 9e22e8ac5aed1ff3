import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ProgramInput, Spawner, SpawnResult } from "../lib/spawn.ts";
import { isJsonObject, type JsonObject } from "../protocol/json.ts";
import { MATH_SERVER } from "./math_python.ts";
import type { Sandbox } from "./sandbox.ts";

/** What one calculation may use. */
export interface CalculationLimits {
  memory_bytes: number;
  cpu_s: number;
  wall_s: number;
  output_bytes: number;
}

export type CalculationEnd =
  | { status: "ended"; exit_code: number }
  | { status: "timed_out" }
  | { status: "cancelled" }
  | { status: "flooded" }
  | { status: "failed"; error: string };

export interface InterpreterOptions {
  python: Python;
  sandbox: Sandbox | null;
  spawner: Spawner;
}

/** An interpreter on this machine, and the folders outside the system's that it is made of. */
export interface Python {
  file: string;
  readable: string[];
}

/** Reading all libraries from a cold disk takes some seconds. */
const START_MS = 60_000;
/** It is started afresh at least this often. */
const LIFE_MS = 24 * 60 * 60 * 1000;

type Message =
  | { kind: "ready"; missing: string[] }
  | { kind: "out"; bytes: Buffer }
  | { kind: "end"; end: CalculationEnd };

/**
 * A Python process with everything imported, which forks for each calculation. One calculation at a time; the caller
 * takes care of that.
 */
export class Interpreter {
  /** Libraries that this Python does not have; known when the first calculation has ended. */
  missing: readonly string[] = [];
  readonly #life = new AbortController();
  readonly #started: Promise<void>;
  #ended: SpawnResult | null = null;
  #input: ProgramInput | null = null;
  #ready = false;
  #pending = "";
  /** What was said that is no message: why it did not start, mostly. */
  #noise = "";
  #onMessage: (message: Message) => void = () => {};
  #onGone: () => void = () => {};

  constructor({ python, sandbox, spawner }: InterpreterOptions) {
    const args = ["-I", "-c", MATH_SERVER, sandbox === null ? "bare" : "sandboxed"];
    const call = sandbox?.enclose({ file: python.file, args, readable: python.readable }) ?? {
      file: python.file,
      args,
    };
    this.#started = new Promise((resolve) => {
      const run = spawner.run({
        ...call,
        cwd: "/",
        env: ENVIRONMENT,
        timeout_ms: LIFE_MS,
        signal: this.#life.signal,
        onStarted: (input) => {
          this.#input = input;
          resolve();
        },
        onOutput: (bytes) => this.#read(Buffer.from(bytes).toString("latin1")),
      });
      void this.#watch(run, resolve);
    });
  }

  async #watch(run: Promise<SpawnResult>, started: () => void): Promise<void> {
    this.#ended = await run;
    started();
    this.#onGone();
  }

  /** Whether it can take another calculation. */
  get alive(): boolean {
    return this.#ended === null;
  }

  close(): void {
    // An idle one ends with its input; the signal is for one that is busy.
    this.#input?.end();
    this.#life.abort();
  }

  /** Never rejects. `onOutput` is not called after it has resolved. */
  async calculate(
    code: string,
    limits: CalculationLimits,
    signal: AbortSignal,
    onOutput: (bytes: Buffer) => void,
  ): Promise<CalculationEnd> {
    await this.#started;
    return new Promise((resolve) => {
      const cancel = (): void => {
        // One that is still importing hears nobody.
        if (this.#ready) this.#input?.write("cancel\n");
        else finish({ status: "cancelled" });
      };
      const finish = (end: CalculationEnd): void => {
        clearTimeout(deadline);
        signal.removeEventListener("abort", cancel);
        this.#onMessage = () => {};
        this.#onGone = () => {};
        // What has not answered in time will answer at the wrong time.
        if (!this.#ready || end.status === "failed") this.close();
        resolve(end);
      };
      const late = { status: "failed", error: "The interpreter did not answer in time." } as const;
      const deadline = setTimeout(() => finish(late), START_MS + limits.wall_s * 1000);
      this.#onGone = () => finish({ status: "failed", error: this.#whyGone() });
      if (this.#ended !== null) return this.#onGone();
      if (signal.aborted) return cancel();
      signal.addEventListener("abort", cancel, { once: true });
      this.#onMessage = (message) => {
        if (message.kind === "out") onOutput(message.bytes);
        else if (message.kind === "end") finish(message.end);
      };
      this.#input?.write(`${JSON.stringify(orderOf(code, limits))}\n`);
    });
  }

  #read(text: string): void {
    const lines = (this.#pending + text).split("\n");
    this.#pending = lines.pop() ?? "";
    for (const line of lines) {
      const message = parseMessage(line);
      if (message === null) this.#noise = `${this.#noise}${line}\n`.slice(-2000);
      else this.#take(message);
    }
  }

  #take(message: Message): void {
    if (message.kind === "ready") {
      this.#ready = true;
      this.missing = message.missing;
    } else this.#onMessage(message);
  }

  #whyGone(): string {
    if (this.#ended?.status === "not_started") return this.#ended.error;
    const said = `${this.#noise}${this.#pending}`.trim().split("\n").at(-1) ?? "";
    return `The Python interpreter ended unexpectedly${said === "" ? "" : `: ${said}`}.`;
  }
}

/** No threads: the forked processes may have none. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  LANG: "C.UTF-8",
  OPENBLAS_NUM_THREADS: "1",
  OMP_NUM_THREADS: "1",
  MKL_NUM_THREADS: "1",
  PYTHONHASHSEED: "random",
};

function orderOf(code: string, limits: CalculationLimits): JsonObject {
  const { memory_bytes, cpu_s, wall_s, output_bytes } = limits;
  return { code, memory: memory_bytes, cpu_s, wall_s, output_bytes };
}

/** Null for what is no message of ours. */
function parseMessage(line: string): Message | null {
  if (!line.startsWith("{")) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const { ready, out, end } = value;
  if (typeof out === "string") return { kind: "out", bytes: Buffer.from(out, "base64") };
  if (isJsonObject(end)) return { kind: "end", end: endOf(end) };
  const missing = isJsonObject(ready) ? ready["missing"] : undefined;
  return Array.isArray(missing) ? { kind: "ready", missing: missing.map(String) } : null;
}

function endOf({ stopped, exit_code }: JsonObject): CalculationEnd {
  if (stopped === "timed_out" || stopped === "cancelled" || stopped === "flooded") return { status: stopped };
  return { status: "ended", exit_code: Number(exit_code) };
}

/** Prints where a Python lives that is not the system's, or only a script that finds one. */
const LOCATE = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix]))";

/**
 * The interpreter for calculations: the configured one, else the system's, since distributions package the libraries
 * for it, else the first on the path.
 */
export async function findPython(
  configured: string | undefined,
  env: Readonly<Record<string, string>>,
  spawner: Spawner,
): Promise<Python | null> {
  const places = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "python3"));
  const candidates = configured === undefined ? ["/usr/bin/python3", ...places] : [configured];
  const file = candidates.find(isExecutable);
  if (file === undefined) return null;
  if (file.startsWith("/usr/")) return { file, readable: [] };
  let output = "";
  await spawner.run({
    file,
    args: ["-I", "-c", LOCATE],
    cwd: "/",
    env,
    timeout_ms: START_MS,
    signal: new AbortController().signal,
    onOutput: (bytes) => (output += Buffer.from(bytes).toString()),
  });
  const lines = output.trim().split("\n");
  return located(lines.at(-1) ?? "") ?? { file, readable: [dirname(dirname(realpathSync(file)))] };
}

function located(line: string): Python | null {
  try {
    const [file, ...prefixes] = JSON.parse(line) as unknown[];
    if (typeof file !== "string") return null;
    const readable = [...new Set([...prefixes.map(String), dirname(dirname(realpathSync(file)))])];
    return { file, readable: readable.filter((path) => !path.startsWith("/usr/") && path !== "/usr" && path !== "/") };
  } catch {
    return null;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
