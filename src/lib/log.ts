/** One line of the log: an event name in `noun.verb` form and its fields. Secrets are removed before it is written. */
export interface Log {
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
  /** A log that adds these fields to each line. */
  child(fields: Record<string, unknown>): Log;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  level: LogLevel;
  format: "text" | "json";
  /** Takes secrets out of a text. */
  redact: (text: string) => string;
  write: (line: string) => void;
  now: () => number;
}

/** Makes a log that writes one line an event, as text for people or as JSON for machines. */
export function createLog(options: LogOptions, bound: Record<string, unknown> = {}): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const emit = (level: LogLevel, event: string, fields: Record<string, unknown> = {}): void => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    const at = new Date(options.now()).toISOString();
    const all = { ...bound, ...fields };
    const line =
      options.format === "json"
        ? JSON.stringify({ at, level, event, ...plain(all) })
        : `${at} ${level.toUpperCase().padEnd(5)} ${event}${textFields(all)}`;
    options.write(`${options.redact(line)}\n`);
  };
  return {
    debug: (event, fields) => emit("debug", event, fields),
    info: (event, fields) => emit("info", event, fields),
    warn: (event, fields) => emit("warn", event, fields),
    error: (event, fields) => emit("error", event, fields),
    child: (fields) => createLog(options, { ...bound, ...fields }),
  };
}

/** A log that keeps nothing. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
};

function plain(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? describeError(value) : value]),
  );
}

function textFields(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([key, value]) => {
      const text = value instanceof Error ? describeError(value) : value;
      return ` ${key}=${typeof text === "string" ? text : JSON.stringify(text)}`;
    })
    .join("");
}

/** A failure and its causes in one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (because ${describeError(error.cause)})`;
  return `${error.message || error.name}${cause}`;
}
