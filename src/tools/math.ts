import type { Preparation, PrepareContext, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { textArgument } from "../lib/arguments.ts";
import { Collector } from "../lib/cut.ts";
import type { Spawner } from "../lib/spawn.ts";
import { TerminalText } from "../lib/terminal_text.ts";
import { visible } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import {
  findPython,
  Interpreter,
  type CalculationEnd,
  type CalculationLimits,
  type Python,
} from "./math_interpreter.ts";
import type { Isolation } from "./sandbox.ts";

export interface MathOptions {
  /** The interpreter that the owner names. */
  python?: string | undefined;
  /** Scrubbed of secrets; only its PATH is used, to find an interpreter. */
  env: Readonly<Record<string, string>>;
  isolation: Isolation;
}

const MEMORY_BYTES = 1024 ** 3;
/** A calculation that prints more is at fault; it is stopped, since nobody would read the rest. */
const OUTPUT_BYTES = 1024 ** 2;
const CODE_CHARACTERS_MAX = 1_000_000;
/** An idle interpreter holds some 100 MB. */
const IDLE_MS = 10 * 60 * 1000;
/** Left free below the result's limit for the last lines. */
const LAST_LINE_CHARACTERS = 500;

/** Calculates with Python in a sealed process that is forked from a prepared one. */
export function createMath(options: MathOptions): Tool {
  const pool = new InterpreterPool(options);
  return {
    name: "math",
    prepare: (args, context) => prepare(args, context, options),
    execute: (plan, context) => execute(asCode(plan), context, pool),
  };
}

function prepare(args: JsonObject, context: PrepareContext, { isolation }: MathOptions): Preparation {
  const code = textArgument(args, "code");
  if (!code.ok) return code;
  if (code.value.trim() === "") return { ok: false, error: "code is empty. Give the Python code to run." };
  if (!code.value.isWellFormed()) {
    return { ok: false, error: "code holds half a character (a lone surrogate). Send the whole character." };
  }
  if (code.value.length > CODE_CHARACTERS_MAX) return { ok: false, error: "code is longer than 1,000,000 characters." };
  if (isolation.sandbox === null && isolation.required) {
    return {
      ok: false,
      error: `Calculations run in a sandbox only, and there is none. ${isolation.reason ?? ""}`.trim(),
    };
  }
  const lines = code.value.trim().split("\n").length;
  return {
    ok: true,
    plan: { code: code.value },
    header: `math: ${lines} ${lines === 1 ? "line" : "lines"} of Python`,
    preview: visible(code.value),
    needs_approval: true,
    // Sealed, it can change nothing, and may be run again.
    effect: isolation.sandbox === null ? "side_effect" : "none",
    subject: code.value,
    ...(context.sandbox === null || isolation.sandbox === null
      ? { notes: ["This runs without a sandbox: the code can read files and use the network."] }
      : {}),
  };
}

function asCode(plan: JsonValue): string {
  if (!isJsonObject(plan) || typeof plan["code"] !== "string") throw new Error("This is not a plan of math.");
  return plan["code"];
}

async function execute(code: string, context: ToolContext, pool: InterpreterPool): Promise<ToolOutput> {
  const interpreter = await pool.take(context.spawner);
  if (interpreter === null) {
    return {
      output: "There is no Python 3 on this machine. Ask for it to be installed (package python3).",
      is_error: true,
      effect: "none",
    };
  }
  const text = new TerminalText();
  const collector = new Collector(Math.max(0, context.output_limit - LAST_LINE_CHARACTERS));
  const take = (piece: string): void => {
    collector.push(piece);
    if (piece !== "") context.emit(piece);
  };
  const limits: CalculationLimits = {
    memory_bytes: MEMORY_BYTES,
    cpu_s: Math.ceil(context.timeout_s),
    wall_s: context.timeout_s,
    output_bytes: OUTPUT_BYTES,
  };
  const end = await interpreter.calculate(code, limits, context.signal, (bytes) => take(text.write(bytes)));
  take(text.end());
  pool.giveBack(interpreter);
  return outputOf(end, collector.text("Print less."), limits, interpreter.missing);
}

function outputOf(
  end: CalculationEnd,
  text: string,
  limits: CalculationLimits,
  missing: readonly string[],
): ToolOutput {
  const lines = [text.replace(/\n$/, ""), endingOf(end, text, limits)];
  const failed = end.status !== "ended" || end.exit_code !== 0;
  if (failed && missing.length > 0) lines.push(installHint(missing));
  return {
    output: lines.filter((line) => line !== "").join("\n"),
    is_error: failed && end.status !== "cancelled",
    effect: "none",
  };
}

function endingOf(end: CalculationEnd, text: string, limits: CalculationLimits): string {
  switch (end.status) {
    case "ended":
      if (end.exit_code < 0) return `[ended by signal ${-end.exit_code}; the limit of memory may be reached]`;
      if (text.trim() !== "") return "";
      return end.exit_code === 0
        ? "(no output; use print() to show a value)"
        : `(no output)\n[exit code: ${end.exit_code}]`;
    case "timed_out":
      return `[Stopped after ${limits.wall_s} s. Use a faster method or smaller numbers.]`;
    case "flooded":
      return "[Stopped, since it printed more than 1 MiB. Print less.]";
    case "cancelled":
      return "[Cancelled by the user.]";
    case "failed":
      return end.error;
  }
}

function installHint(missing: readonly string[]): string {
  const packages = missing.map((name) => `python3-${name}`).join(" ");
  const how = `On Debian: apt install ${packages}; elsewhere: pip install ${missing.join(" ")}`;
  return `[Not installed for this Python: ${missing.join(", ")}. ${how}.]`;
}

/** Keeps one interpreter warm. A second calculation at the same time gets one of its own. */
class InterpreterPool {
  readonly #options: MathOptions;
  #python: Promise<Python | null> | null = null;
  #warm: Interpreter | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: MathOptions) {
    this.#options = options;
  }

  /** Null when there is no Python. */
  async take(spawner: Spawner): Promise<Interpreter | null> {
    const warm = this.#warm;
    this.#warm = null;
    clearTimeout(this.#idle);
    if (warm?.alive === true) return warm;
    const { python: configured, env, isolation } = this.#options;
    this.#python ??= findPython(configured, env, spawner);
    const python = await this.#python;
    return python === null ? null : new Interpreter({ python, sandbox: isolation.sandbox, spawner });
  }

  giveBack(interpreter: Interpreter): void {
    if (this.#warm !== null || !interpreter.alive) {
      interpreter.close();
      return;
    }
    this.#warm = interpreter;
    this.#idle = setTimeout(() => {
      this.#warm?.close();
      this.#warm = null;
    }, IDLE_MS);
    this.#idle.unref();
  }
}
