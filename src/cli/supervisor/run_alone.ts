import { once } from "node:events";
import { startOwnProcess, stopOwnProcess } from "./process.ts";
import type { ProgramName } from "./programs.ts";
import { programArguments } from "./programs.ts";
import { abortOnStopSignal } from "./stop_signals.ts";

/** Runs one program until it ends or this process is asked to, and ends with its exit code. */
export async function runAlone(name: ProgramName, env: Readonly<Record<string, string>>): Promise<void> {
  const stop = abortOnStopSignal();
  const own = startOwnProcess(programArguments(name), env);
  const stopped = once(stop, "abort").then(() => stopOwnProcess(own));
  const end = await Promise.race([own.ended, stopped]);
  process.exitCode = stop.aborted ? 0 : (end.code ?? 1);
}
