import type { Log } from "../lib/log.ts";

/**
 * Keeps what nobody has caught out of Node.js's own report, which would print whatever the thrown value holds. A
 * promise that nobody waited for harms the request that it belonged to and is logged. An exception leaves parts of
 * the process in a state that nobody foresaw, so the process ends with code 1, and a new one takes the conversations
 * up from the journal.
 */
export function logUncaught(log: Log): void {
  process.on("unhandledRejection", (reason) => log.error("rejection.unhandled", { error: errorOf(reason) }));
  process.on("uncaughtException", (error) => {
    log.error("exception.uncaught", { error: errorOf(error) });
    process.exit(1);
  });
}

/** Of a value that is no error nothing but its kind is told: it may hold anything. */
function errorOf(value: unknown): Error {
  return value instanceof Error ? value : new Error(`A value of type ${typeof value} was thrown.`);
}
