import { spawn, type ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { FRAME_KINDS, FrameReader, encodeFrame, encodeNumber, type Frame, type StartOrder } from "./spawn_frames.ts";

/** A program to start. It gets exactly this environment, no input unless given, and a process group of its own. */
export interface SpawnRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Milliseconds from the start until it is stopped; null for a program that serves until it is told to end. */
  timeout_ms: number | null;
  /** Called with raw bytes as they come, stdout and stderr in one stream in the order they came. */
  onOutput(bytes: Uint8Array): void;
  /**
   * Takes stderr apart from stdout. Bytes that come faster than they are taken are lost, so that the program never
   * waits.
   */
  onErrorOutput?(bytes: Uint8Array): void;
  signal: AbortSignal;
  /** Text for standard input, which ends behind it; no input where absent. */
  input?: string;
  /** For a program that is talked to: its input stays open until `end`. Not together with `input`. */
  onStarted?(stdin: ProgramInput): void;
  /**
   * The program begins by reading all its input, and does nothing before: the next one with the same file, arguments,
   * folder and environment may be started ahead.
   */
  spare?: boolean;
  /** The leader of the group is a sandbox that watches over the program: only the others are asked to end. */
  supervised?: boolean;
}

export interface ProgramInput {
  write(text: string): void;
  end(): void;
}

export type SpawnResult =
  | { status: "exited"; exit_code: number | null; signal_name: string | null }
  | { status: "timed_out" }
  | { status: "aborted" }
  | { status: "not_started"; error: string };

/**
 * Starts programs from a small helper process, because forking the server would copy its page tables and stop every
 * stream meanwhile. The call ends when the program ends and its output has drained; 200 ms later nobody listens any
 * more and what is left of its group is killed. On a timeout or an abort the group gets SIGTERM, and SIGKILL 2 s
 * later.
 */
export interface Spawner {
  /** Never rejects for what the program does. `onOutput` is not called after it has resolved. */
  run(request: SpawnRequest): Promise<SpawnResult>;
  /** Starts the helper now, so that the first program does not wait for it. */
  warm(): void;
  /** Ends all programs and the helper. */
  close(): Promise<void>;
}

export interface SpawnerOptions {
  /** The helper's environment. Its programs can read it, so it holds no secret. */
  env: Readonly<Record<string, string>>;
}

export function createSpawner(options: SpawnerOptions): Spawner {
  return new HelperSpawner(options);
}

/** The helper holds a few frames at a time; a small heap keeps its forks cheap. */
const HELPER_FLAGS = ["--max-old-space-size=64", "--max-semi-space-size=1", "--no-warnings"];
/** Input is sent in pieces of this size. */
const INPUT_PIECE_BYTES = 256 * 1024;
/** How long `close` waits for the helper to end its programs. */
const CLOSE_MS = 2000;

interface RunningJob {
  request: SpawnRequest;
  /** Null until the program runs. */
  pid: number | null;
  end(result: SpawnResult): void;
}

class HelperSpawner implements Spawner {
  readonly #options: SpawnerOptions;
  readonly #jobs = new Map<number, RunningJob>();
  #helper: ChildProcess | null = null;
  #last_job = 0;
  #closed = false;

  constructor(options: SpawnerOptions) {
    this.#options = options;
  }

  warm(): void {
    this.#ensureHelper();
  }

  run(request: SpawnRequest): Promise<SpawnResult> {
    if (request.signal.aborted) return Promise.resolve({ status: "aborted" });
    if (this.#closed) return Promise.resolve({ status: "not_started", error: "The server is shutting down." });
    this.#ensureHelper();
    const number = ++this.#last_job;
    return new Promise((resolve) => {
      const onAbort = (): void => this.#send(encodeFrame(FRAME_KINDS.stop, number));
      this.#jobs.set(number, {
        request,
        pid: null,
        end: (result) => {
          this.#jobs.delete(number);
          request.signal.removeEventListener("abort", onAbort);
          this.#setWanted();
          resolve(result);
        },
      });
      this.#setWanted();
      request.signal.addEventListener("abort", onAbort, { once: true });
      this.#send(encodeFrame(FRAME_KINDS.start, number, Buffer.from(JSON.stringify(orderOf(request)))));
      if (request.input !== undefined) this.#sendInput(number, request.input);
      if (request.input !== undefined) this.#send(encodeFrame(FRAME_KINDS.input_end, number));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const helper = this.#helper;
    if (helper === null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => helper.kill("SIGKILL"), CLOSE_MS);
      helper.once("exit", () => {
        clearTimeout(timer);
        resolve();
      });
      helper.stdin?.end();
    });
  }

  #ensureHelper(): void {
    if (this.#helper !== null) return;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const path = fileURLToPath(new URL(`./spawn_helper.${extension}`, import.meta.url));
    // A session of its own: an interrupt at the terminal is for the server, which ends the helper in its time.
    const helper = spawn(process.execPath, [...HELPER_FLAGS, path], {
      env: this.#options.env,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    this.#helper = helper;
    const reader = new FrameReader();
    helper.stdin?.on("error", () => {});
    helper.stdout?.on("data", (piece: Buffer) => {
      for (const frame of reader.push(piece)) this.#onFrame(frame);
    });
    helper.on("error", (error) => {
      const why = `was not started: the helper that starts programs failed (${error.message}). Try again.`;
      this.#onHelperGone(helper, (file) => ({ status: "not_started", error: `${file} ${why}` }));
    });
    helper.on("close", () =>
      this.#onHelperGone(helper, () => ({ status: "exited", exit_code: null, signal_name: "SIGKILL" })),
    );
    this.#setWanted();
  }

  #send(frame: Buffer): void {
    this.#helper?.stdin?.write(frame);
  }

  #sendInput(number: number, text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += INPUT_PIECE_BYTES) {
      this.#send(encodeFrame(FRAME_KINDS.input, number, bytes.subarray(at, at + INPUT_PIECE_BYTES)));
    }
  }

  #onFrame({ kind, job: number, payload }: Frame): void {
    const job = this.#jobs.get(number);
    if (job === undefined) return;
    switch (kind) {
      case FRAME_KINDS.started:
        job.pid = payload.readUInt32BE(0);
        job.request.onStarted?.({
          write: (text) => this.#sendInput(number, text),
          end: () => this.#send(encodeFrame(FRAME_KINDS.input_end, number)),
        });
        return;
      case FRAME_KINDS.output:
        this.#send(encodeFrame(FRAME_KINDS.credit, number, encodeNumber(payload.length)));
        job.request.onOutput(payload);
        return;
      case FRAME_KINDS.error_output:
        job.request.onErrorOutput?.(payload);
        return;
      case FRAME_KINDS.ended:
        job.end(JSON.parse(payload.toString()) as SpawnResult);
        return;
      default:
        throw new Error(`The spawn helper sent a frame of kind ${kind}.`);
    }
  }

  /** Its programs are without an owner now. The next call starts another helper. */
  #onHelperGone(helper: ChildProcess, resultOf: (file: string) => SpawnResult): void {
    if (this.#helper !== helper) return;
    this.#helper = null;
    for (const job of this.#jobs.values()) {
      if (job.pid !== null) killGroup(job.pid);
      job.end(resultOf(job.request.file));
    }
  }

  /** An idle helper does not keep the server from ending; a running program does. */
  #setWanted(): void {
    const helper = this.#helper;
    const streams = [helper?.stdin, helper?.stdout].filter((stream) => stream instanceof Socket);
    for (const handle of helper === null ? [] : [helper, ...streams]) {
      if (this.#jobs.size > 0) handle.ref();
      else handle.unref();
    }
  }
}

function orderOf(request: SpawnRequest): StartOrder {
  const { file, args, cwd, env, timeout_ms } = request;
  const has_input = request.input !== undefined || request.onStarted !== undefined;
  return {
    file,
    args,
    cwd,
    env,
    timeout_ms,
    has_input,
    splits_errors: request.onErrorOutput !== undefined,
    spare: request.spare ?? false,
    supervised: request.supervised ?? false,
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
