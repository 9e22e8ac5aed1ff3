import { constants } from "node:os";
import type { PrepareContext, Preparation, Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { integerArgument, textArgument } from "../lib/arguments.ts";
import { Collector } from "../lib/cut.ts";
import type { SpawnRequest, SpawnResult } from "../lib/spawn.ts";
import { TerminalText } from "../lib/terminal_text.ts";
import { visible, visibleLine } from "../lib/visible.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { judgeCommand } from "./command_risk.ts";
import type { Isolation } from "./sandbox.ts";

export interface BashOptions {
  /** Scrubbed of secrets: all that a command gets. */
  env: Readonly<Record<string, string>>;
  isolation: Isolation;
}

/** Beyond it a person cannot know what they approve, and no shell script that a model writes is so long. */
const COMMAND_CHARACTERS_MAX = 1_000_000;
const TIMEOUT_S_MAX = 600;
const HEADER_CHARACTERS_MAX = 200;
/** What people who watch get of one call: more is not read live, and each chunk costs every reader. */
const LIVE_CHARACTERS_MAX = 256 * 1024;
/** Left free below the result's limit for the last line. */
const LAST_LINE_CHARACTERS = 300;

interface BashPlan {
  command: string;
  timeout_s: number | null;
}

/** Runs a bash script in the workspace, in the sandbox where there is one. */
export function createBash(options: BashOptions): Tool {
  return {
    name: "bash",
    prepare: (args, context) => prepare(args, context, options),
    execute: (plan, context) => execute(asPlan(plan), context, options),
  };
}

function prepare(args: JsonObject, context: PrepareContext, { isolation }: BashOptions): Preparation {
  const command = textArgument(args, "command");
  if (!command.ok) return command;
  const timeout = integerArgument(args, "timeout", 1);
  if (!timeout.ok) return timeout;
  const problem = problemWith(command.value, timeout.value);
  if (problem !== null) return { ok: false, error: problem };
  const { blocked, destructive } = judgeCommand(command.value);
  if (blocked !== null) {
    return {
      ok: false,
      error: `This command is never run here: ${blocked}. Find another way, or ask the person to run it.`,
    };
  }
  if (isolation.sandbox === null && isolation.required) {
    return { ok: false, error: `Commands run in a sandbox only, and there is none. ${isolation.reason ?? ""}`.trim() };
  }
  return {
    ok: true,
    plan: { command: command.value, timeout_s: timeout.value },
    header: `bash: ${headline(command.value)}`,
    preview: visible(command.value),
    needs_approval: true,
    effect: "side_effect",
    resources: [],
    subject: command.value,
    ...(context.sandbox === null ? { notes: ["This runs without a sandbox."] } : {}),
    ...(destructive ? { destructive } : {}),
  };
}

function problemWith(command: string, timeout_s: number | null): string | null {
  if (command.trim() === "") return "command is empty. Give the script to run.";
  if (command.includes("\0")) {
    return "command holds a NUL character, which no shell can take. Use printf '\\0' to make one.";
  }
  if (!command.isWellFormed()) return "command holds half a character (a lone surrogate). Send the whole character.";
  if (command.length > COMMAND_CHARACTERS_MAX) {
    return "command is longer than 1,000,000 characters. Write it to a file and run that.";
  }
  if (timeout_s !== null && timeout_s > TIMEOUT_S_MAX) {
    return `timeout is at most ${TIMEOUT_S_MAX} seconds, but it is ${timeout_s}.`;
  }
  return null;
}

function headline(command: string): string {
  const lines = command.trim().split("\n");
  const first = visibleLine(lines[0] ?? "");
  const short =
    first.length > HEADER_CHARACTERS_MAX ? `${first.slice(0, HEADER_CHARACTERS_MAX).toWellFormed()}…` : first;
  const more = lines.length - 1;
  return more === 0 ? short : `${short} … (${more} more ${more === 1 ? "line" : "lines"})`;
}

function asPlan(plan: JsonValue): BashPlan {
  if (!isJsonObject(plan) || typeof plan["command"] !== "string") throw new Error("This is not a plan of bash.");
  const { command, timeout_s } = plan;
  return { command, timeout_s: typeof timeout_s === "number" ? timeout_s : null };
}

/**
 * The first bash reads the script to its end, so that it may have any length and the process may wait for it; the
 * second runs it as `bash -c` would. When a script ends well although a part of its last pipeline failed, the trap
 * makes that part's code the exit code, unless the part only wrote to a reader that had enough (141 is SIGPIPE). Only
 * what is longer than one argument may be (128 KiB) is evaluated by the first one.
 */
const LAUNCHER = [
  `script= piece=; while IFS= read -r -N 65536 piece; do script+=$piece; done; script+=$piece; unset piece`,
  `exec </dev/null`,
  `set_trap='trap '\\''set -- "$?" "\${PIPESTATUS[@]}"; [ "$1" != 0 ] || for code; do '`,
  `set_trap+='[ "$code" = 0 ] || [ "$code" = 141 ] || exit "$code"; done'\\'' EXIT; '`,
  `[ \${#script} -gt 30000 ] || exec bash -c "$set_trap$script"`,
  `set --; eval "unset script set_trap; $script"`,
].join("\n");

async function execute(plan: BashPlan, context: ToolContext, options: BashOptions): Promise<ToolOutput> {
  const timeout_s = plan.timeout_s ?? context.timeout_s;
  const text = new TerminalText();
  const collector = new Collector(Math.max(0, context.output_limit - LAST_LINE_CHARACTERS));
  const live = liveOutput(context);
  const take = (piece: string): void => {
    collector.push(piece);
    live(piece);
  };
  const result = await context.spawner.run({
    ...callOf(context, options),
    cwd: context.workspace.root,
    env: options.env,
    timeout_ms: timeout_s * 1000,
    signal: context.signal,
    input: plan.command,
    spare: true,
    onOutput: (bytes) => take(text.write(bytes)),
  });
  take(text.end());
  return outputOf(result, collector.text("Redirect the output to a file and read parts of it."), timeout_s);
}

function callOf(context: ToolContext, { isolation }: BashOptions): Pick<SpawnRequest, "file" | "args" | "supervised"> {
  const { root } = context.workspace;
  const bash = { file: "bash", args: ["-c", LAUNCHER] };
  return isolation.sandbox?.wrap({ ...bash, cwd: root, workspace: root }) ?? bash;
}

/** Passes pieces on until people have seen enough. */
function liveOutput(context: ToolContext): (piece: string) => void {
  let left = LIVE_CHARACTERS_MAX;
  return (piece) => {
    if (piece === "" || left <= 0) return;
    context.emit(
      piece.length <= left ? piece : `${piece.slice(0, left).toWellFormed()}\n[The rest is not shown live.]\n`,
    );
    left -= piece.length;
  };
}

function outputOf(result: SpawnResult, text: string, timeout_s: number): ToolOutput {
  const unknown = "What it had done by then stays done, and the outcome is unknown.";
  switch (result.status) {
    case "not_started":
      return { output: result.error, is_error: true, effect: "none" };
    case "timed_out":
      return {
        output: withLastLine(text, `[Timed out after ${timeout_s} s and was stopped. ${unknown}]`),
        is_error: true,
        effect: "unknown",
      };
    case "aborted":
      return {
        output: withLastLine(text, `[Cancelled by the user and stopped. ${unknown} Do not run it again unasked.]`),
        is_error: false,
        effect: "unknown",
      };
    case "exited": {
      const ending = endingOf(result.exit_code, result.signal_name);
      const said = text.trim() === "" ? "(no output)" : text;
      return { output: ending === null ? said : withLastLine(said, ending), is_error: ending !== null, effect: "done" };
    }
  }
}

function withLastLine(text: string, line: string): string {
  return text === "" ? line : `${text.replace(/\n$/, "")}\n${line}`;
}

function endingOf(exit_code: number | null, signal_name: string | null): string | null {
  if (exit_code === 0) return null;
  if (exit_code === null) return `[ended by signal ${signal_name ?? "unknown"}]`;
  // A shell reports 128 and the signal's number for a program that a signal ended.
  const signal = Object.entries(constants.signals).find(([, number]) => number === exit_code - 128)?.[0];
  return signal === undefined ? `[exit code: ${exit_code}]` : `[exit code: ${exit_code} (${signal})]`;
}
