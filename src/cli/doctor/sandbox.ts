import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Check, CheckContext, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";

const run = promisify(execFile);

// Importing scipy on a cold disk takes seconds.
const PROGRAM_TIMEOUT_MS = 20_000;

const INSTALL = "On Debian and Ubuntu: apt install bubblewrap python3-sympy python3-numpy python3-scipy.";

/** Whether commands can be shut in, and whether maths has what it needs. */
export const sandboxCheck: Check = {
  name: "sandbox",
  async run(context) {
    return Promise.all([sandbox(context), python(context)]);
  },
};

async function sandbox({ config, signal }: CheckContext): Promise<Finding> {
  const { mode } = config.sandbox;
  if (mode === "off") {
    return warning("sandbox", "It is turned off: commands run as this user.", 'Set [sandbox] mode = "auto".');
  }
  const args = [
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "true",
  ];
  const problem = await problemOf("bwrap", args, signal);
  if (problem === null) return ok("sandbox", "bubblewrap works: commands are shut in.");
  const message = `bubblewrap does not work: ${problem}`;
  if (mode === "required") return failed("sandbox", `${message}; no command will run.`, INSTALL);
  return warning("sandbox", `${message}; commands run as this user, with a scrubbed environment.`, INSTALL);
}

async function python({ config, signal }: CheckContext): Promise<Finding> {
  const file = config.tools.python ?? "/usr/bin/python3";
  const problem = await problemOf(file, ["-I", "-c", "import sympy, numpy, scipy"], signal);
  if (problem === null) return ok("maths", `${file} has sympy, numpy and scipy.`);
  return warning("maths", `${file} cannot be used for maths: ${problem}.`, INSTALL);
}

/** Why a program fails, in its own last words; null when it does not. */
async function problemOf(file: string, args: readonly string[], signal: AbortSignal): Promise<string | null> {
  try {
    await run(file, args, { signal, timeout: PROGRAM_TIMEOUT_MS });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ("code" in error && error.code === "ENOENT") return "it is not installed";
    const words = "stderr" in error ? String(error.stderr).trim().split("\n").at(-1) : "";
    return words === undefined || words === "" ? "it ended with an error" : words;
  }
}
