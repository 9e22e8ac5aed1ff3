import { isNpmScript } from "../../config/npm_script.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How often an orphan would notice that it is one. */
const PARENT_LOOK_MS = 250;

/**
 * Aborts at the first signal that asks this process to end; later ones change nothing. npm passes a signal to the shell
 * that it starts a script with, and that shell ends without passing it on: so a script of npm also ends with its shell.
 */
export function abortOnStopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of STOP_SIGNALS) process.on(name, () => controller.abort());
  if (isNpmScript()) abortWithParent(controller);
  return controller.signal;
}

function abortWithParent(controller: AbortController): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    controller.abort();
  }, PARENT_LOOK_MS);
  timer.unref();
}
