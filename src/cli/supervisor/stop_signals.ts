const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Aborts at the first signal that asks this process to end; later ones change nothing. */
export function abortOnStopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of STOP_SIGNALS) process.on(name, () => controller.abort());
  return controller.signal;
}
