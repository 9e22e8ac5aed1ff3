import { spawn } from "node:child_process";
import { join } from "node:path";
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

/** Runs `turnstone` as a person would, in an environment that holds none of this machine's settings, until it ends. */
export function runTurnstone(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
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
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (stderr += bytes.toString()));
  child.stdin.end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
