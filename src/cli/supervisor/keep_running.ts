import { startOwnProcess, stopOwnProcess } from "./process.ts";
import type { OwnProcess, ProcessEnd, ReadyMessage } from "./process.ts";
import { pause, waitUntilReady } from "./readiness.ts";
import type { Terminal } from "../terminal.ts";

/** A program that is to run for as long as this process does. */
export interface Member {
  name: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Answers once the program can be used; null where the program says so itself. */
  ready_url: string | null;
}

/** A member that runs. */
export interface Running {
  /** What it said when it was ready the first time. */
  readonly message: ReadyMessage;
  /** Ends it for good; resolves when it has ended. */
  stop(): Promise<void>;
}

const BACK_OFF_FIRST_MS = 1000;
// Long enough not to burn a processor on a program that cannot start, short enough that a cure shows soon.
const BACK_OFF_MAX_MS = 30_000;
// Whoever ran this long has recovered, and its next fall starts from the first pause again.
const STEADY_MS = 60_000;

/**
 * Starts a member and starts it again whenever it ends, until it is stopped. Null when its first start fails (it has
 * said why itself) or is given up for `stop`.
 */
export async function keepRunning(member: Member, stop: AbortSignal, terminal: Terminal): Promise<Running | null> {
  const first = startOwnProcess(member.args, member.env);
  const readiness = await waitUntilReady(first, member.ready_url, stop);
  if (readiness.ok) {
    const ending = new AbortController();
    const ended = watch(first, member, ending.signal, terminal);
    return {
      message: readiness.message,
      stop() {
        ending.abort();
        return ended;
      },
    };
  }
  await stopOwnProcess(first);
  if (readiness.why === "timeout") terminal.warn(`The ${member.name} did not become ready within a minute.`);
  return null;
}

async function watch(first: OwnProcess, member: Member, stop: AbortSignal, terminal: Terminal): Promise<void> {
  let own = first;
  let back_off = BACK_OFF_FIRST_MS;
  for (;;) {
    const started = Date.now();
    const end = await endOf(own, stop);
    if (stop.aborted) return;
    if (Date.now() - started > STEADY_MS) back_off = BACK_OFF_FIRST_MS;
    terminal.warn(`The ${member.name} ended (${describeEnd(end)}); it is started again in ${back_off / 1000} s.`);
    await pause(back_off, stop);
    if (stop.aborted) return;
    back_off = Math.min(back_off * 2, BACK_OFF_MAX_MS);
    own = startOwnProcess(member.args, member.env);
  }
}

/** Resolves when the process has ended by itself, or because it was asked to. */
function endOf(own: OwnProcess, stop: AbortSignal): Promise<ProcessEnd> {
  const onStop = (): void => void stopOwnProcess(own);
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  return own.ended.finally(() => stop.removeEventListener("abort", onStop));
}

function describeEnd(end: ProcessEnd): string {
  return end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
}
