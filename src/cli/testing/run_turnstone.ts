import type { ChildProcessByStdio } from "node:child_process";
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { packageRoot } from "../package.ts";

export interface RunOptions {
  env?: Readonly<Record<string, string>>;
  /** The Node that runs it; this one where absent. */
  node?: string;
  input?: string;
}

export interface RunResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A `turnstone` that goes on running. */
export interface Started {
  stdout(): string;
  /** Resolves when standard output matches; rejects when the program ends first. */
  printed(pattern: RegExp): Promise<void>;
  /** Sends SIGTERM and answers the exit code. */
  stop(): Promise<number | null>;
  /** As Ctrl+C in a terminal does: a signal to all processes of its group. Answers the exit code. */
  interrupt(): Promise<number | null>;
}

/** Runs `turnstone` as a person would, in an environment that holds none of this machine's settings, until it ends. */
export async function runTurnstone(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { child, output, ended } = launch(args, options);
  child.stdin.end(options.input ?? "");
  return { code: await ended, ...output };
}

/** Starts `turnstone` in the same way and lets it run. */
export function startTurnstone(args: readonly string[], options: RunOptions = {}): Started {
  const { child, output, ended } = launch(args, options);
  child.stdin.end();
  return {
    stdout: () => output.stdout,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(output.stdout)) resolve();
        };
        child.stdout.on("data", look);
        look();
        void ended.then((code) => reject(new Error(`It ended with ${code}:\n${output.stdout}\n${output.stderr}`)));
      }),
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
    interrupt() {
      process.kill(-(child.pid ?? 0), "SIGINT");
      return ended;
    },
  };
}

interface Launched {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Grows while the program runs. */
  output: { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

function launch(args: readonly string[], options: RunOptions): Launched {
  const root = packageRoot();
  const child = spawn(options.node ?? process.execPath, [join(root, "bin", "turnstone.cjs"), ...args], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      // What one run compiles the next one need not.
      XDG_CACHE_HOME: join(root, "node_modules", ".cache"),
      ...options.env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own, as in a terminal.
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (bytes: Buffer) => (output.stdout += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (output.stderr += bytes.toString()));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
  return { child, output, ended };
}
