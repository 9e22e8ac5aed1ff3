import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, readFileSync, readdirSync, statSync } from "node:fs";
import { Socket } from "node:net";
import type { Fifos, PipeEnds } from "./spawn_fifos.ts";
import type { StartOrder } from "./spawn_frames.ts";
import type { SpawnResult } from "./spawn.ts";

/** Bytes that may be on their way to the server before reading stops: what a flood may cost in memory. */
const UNCONSUMED_BYTES_MAX = 256 * 1024;
/** How long output is waited for after the program ended, when something in the background still holds the pipe. */
const DRAIN_MS = 200;
/** Between asking to end and forcing it. */
const KILL_AFTER_MS = 2000;
/** After that nobody waits: a process that survives SIGKILL hangs in the kernel. */
const GIVE_UP_AFTER_MS = 1000;

export interface JobReports {
  started(pid: number): void;
  output(bytes: Buffer): void;
  errorOutput(bytes: Buffer): void;
  ended(result: SpawnResult): void;
}

/** Starts a program. A failure is reported to whoever attaches. */
export function startJob(order: StartOrder, fifos: Fifos): Job {
  try {
    if (!statSync(order.cwd).isDirectory()) return new Job(order, `${order.cwd} is not a folder.`);
  } catch {
    return new Job(order, `The working folder ${order.cwd} does not exist.`);
  }
  try {
    return new Job(order, launch(order, fifos));
  } catch (error) {
    return new Job(order, describeStartError(order, error));
  }
}

interface Launched {
  child: ChildProcess;
  input: Socket | null;
  output: Socket;
  errors: Socket | null;
}

function launch({ file, args, cwd, env, has_input, splits_errors }: StartOrder, fifos: Fifos): Launched {
  const ends: { output: PipeEnds; input?: PipeEnds; errors?: PipeEnds } = { output: fifos.open("read") };
  try {
    if (has_input) ends.input = fifos.open("write");
    if (splits_errors) ends.errors = fifos.open("read");
    const { output, input, errors } = ends;
    const stdio = [input?.theirs ?? ("ignore" as const), output.theirs, (errors ?? output).theirs];
    const child = spawn(file, args, { cwd, env, stdio, detached: true });
    return {
      child,
      output: readerOf(output),
      input: input === undefined ? null : new Socket({ fd: input.ours, readable: false, writable: true }),
      errors: errors === undefined ? null : readerOf(errors),
    };
  } catch (error) {
    for (const { ours } of Object.values(ends)) closeSync(ours);
    throw error;
  } finally {
    for (const { theirs } of Object.values(ends)) closeSync(theirs);
  }
}

function readerOf({ ours }: PipeEnds): Socket {
  return new Socket({ fd: ours, readable: true, writable: false });
}

/** One program from its start to its end. Before someone attaches it waits and nothing of it is read. */
export class Job {
  readonly #order: StartOrder;
  readonly #child: ChildProcess | null = null;
  readonly #input: Socket | null = null;
  readonly #output: Socket | null = null;
  readonly #errors: Socket | null = null;
  #reports: JobReports | null = null;
  #result: SpawnResult | null = null;
  /** Why it was told to end, which is then the result, however it ended. */
  #stopped: "timed_out" | "aborted" | null = null;
  #drained = false;
  #finished = false;
  #unconsumed = 0;
  #timers: NodeJS.Timeout[] = [];

  constructor(order: StartOrder, started: Launched | string) {
    this.#order = order;
    if (typeof started === "string") {
      this.#result = { status: "not_started", error: started };
      return;
    }
    const { child, input, output, errors } = started;
    this.#child = child;
    this.#input = input;
    this.#output = output;
    this.#errors = errors;
    child.on("error", (error) => this.#onEnd({ status: "not_started", error: describeStartError(order, error) }));
    child.on("exit", (exit_code, signal_name) => this.#onEnd({ status: "exited", exit_code, signal_name }));
    // A program need not read its input.
    input?.on("error", () => {});
    output.on("error", () => {});
    errors?.on("error", () => {});
    output.on("close", () => {
      this.#drained = true;
      if (this.#result !== null) this.#finish();
    });
  }

  /** Whether it waits still: it has neither failed nor ended. */
  get waiting(): boolean {
    return this.#result === null;
  }

  /** From here on it runs for someone. */
  attach(timeout_ms: number | null, reports: JobReports): void {
    this.#reports = reports;
    if (this.#child?.pid === undefined || this.#output === null) {
      // A program that could not be started says why in its error event, which comes later.
      if (this.#result !== null) this.#finish();
      return;
    }
    reports.started(this.#child.pid);
    if (timeout_ms !== null) this.#timers.push(setTimeout(() => this.stop("timed_out"), timeout_ms));
    this.#errors?.on("data", (bytes: Buffer) => reports.errorOutput(bytes));
    const output = this.#output;
    output.on("data", (bytes: Buffer) => {
      this.#unconsumed += bytes.length;
      if (this.#unconsumed >= UNCONSUMED_BYTES_MAX) output.pause();
      reports.output(bytes);
    });
  }

  write(bytes: Buffer): void {
    this.#input?.write(bytes);
  }

  endInput(): void {
    this.#input?.destroySoon();
  }

  /** The reader has taken this many bytes. */
  credit(bytes: number): void {
    this.#unconsumed -= bytes;
    if (this.#unconsumed < UNCONSUMED_BYTES_MAX) this.#output?.resume();
  }

  /** SIGTERM now, SIGKILL later. */
  stop(reason: "timed_out" | "aborted"): void {
    if (this.#stopped !== null || this.#finished) return;
    this.#stopped = reason;
    this.#terminate();
    this.#timers.push(
      setTimeout(() => this.kill(), KILL_AFTER_MS),
      setTimeout(() => this.#finish(), KILL_AFTER_MS + GIVE_UP_AFTER_MS),
    );
  }

  kill(): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) signal(-pid, "SIGKILL");
  }

  #terminate(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    const others = this.#order.supervised ? groupMembers(pid).filter((member) => member !== pid) : [];
    // A supervisor that gets the signal takes its program along by force, which would leave it no time to clean up.
    if (others.length === 0) signal(-pid, "SIGTERM");
    for (const member of others) signal(member, "SIGTERM");
  }

  #onEnd(result: SpawnResult): void {
    this.#result ??= result;
    if (this.#reports === null) {
      this.#input?.destroy();
      this.#output?.destroy();
      this.#errors?.destroy();
      return;
    }
    if (this.#drained || result.status === "not_started") this.#finish();
    // What was asked to end keeps its time for an orderly end, though its leader has gone already.
    else if (this.#stopped === null) this.#timers.push(setTimeout(() => this.#stopReading(), DRAIN_MS));
  }

  #stopReading(): void {
    // A slow reader is not a silent writer: what has been written by now is still to be delivered.
    if (this.#unconsumed >= UNCONSUMED_BYTES_MAX) this.#timers.push(setTimeout(() => this.#stopReading(), DRAIN_MS));
    else this.#finish();
  }

  #finish(): void {
    if (this.#finished || this.#reports === null) return;
    this.#finished = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.kill();
    this.#output?.destroy();
    this.#errors?.destroy();
    this.#input?.destroy();
    const result = this.#result ?? { status: "exited", exit_code: null, signal_name: "SIGKILL" };
    this.#reports.ended(this.#stopped === null || result.status === "not_started" ? result : { status: this.#stopped });
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}

/** The processes of a group, from Linux' proc(5): the fifth field of `stat`, counted behind the name in brackets. */
function groupMembers(group: number): number[] {
  const isMember = (pid: string): boolean => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2] === String(group);
    } catch {
      return false;
    }
  };
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && isMember(name))
      .map(Number);
  } catch {
    return [];
  }
}

function describeStartError({ file }: StartOrder, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOENT":
      return `The program ${file} was not found.`;
    case "EACCES":
      return `The program ${file} may not be run by this user.`;
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
      return `${file} was not started: the machine is out of processes, files or memory. Try again later.`;
    case "E2BIG":
      return `${file} was not started: its arguments are too long.`;
    default:
      return `${file} was not started: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
