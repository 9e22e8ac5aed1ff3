import type { OwnProcess, ReadyMessage } from "./process.ts";

// A first start makes a database and may wait for MCP servers; beyond this something hangs.
const READY_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;
const POLL_TIMEOUT_MS = 2000;

export type Readiness = { ok: true; message: ReadyMessage } | { ok: false; why: "ended" | "timeout" | "stopped" };

/** Waits until a process says that it can be used, answers at `url` where one is given, or has ended. */
export async function waitUntilReady(own: OwnProcess, url: string | null, stop: AbortSignal): Promise<Readiness> {
  const over = new AbortController();
  const until = AbortSignal.any([over.signal, stop, AbortSignal.timeout(READY_TIMEOUT_MS)]);
  const outcome = await Promise.race([
    own.ready.then((message): Readiness => ({ ok: true, message })),
    own.ended.then((): Readiness => ({ ok: false, why: "ended" })),
    pollUntil(url, until).then((ok): Readiness => {
      if (ok) return { ok, message: { type: "ready" } };
      return { ok, why: stop.aborted ? "stopped" : "timeout" };
    }),
  ]);
  over.abort();
  return outcome;
}

async function pollUntil(url: string | null, until: AbortSignal): Promise<boolean> {
  while (!until.aborted) {
    if (url !== null && (await answers(url, until))) return true;
    await pause(POLL_INTERVAL_MS, until);
  }
  return false;
}

/** Whether anything answers, whatever it says. */
export async function answers(url: string, until: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([until, AbortSignal.timeout(POLL_TIMEOUT_MS)]) });
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    // Refused, cut off or out of time all mean the same: not yet.
    return false;
  }
}

/** Resolves after a time, or earlier when it is no use any more. */
export function pause(milliseconds: number, until: AbortSignal): Promise<void> {
  if (until.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      until.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    until.addEventListener("abort", done, { once: true });
  });
}
