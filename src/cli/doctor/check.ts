import type { Config } from "../../config/load.ts";

/** What was found about one thing. A warning is worth knowing and stops nothing. */
export type Finding =
  | { part: string; status: "ok"; message: string }
  | { part: string; status: "warning" | "failed"; message: string; fix: string };

/** What a check may look at. */
export interface CheckContext {
  config: Config;
  jwt_secret: string;
  /** Ends whatever still waits. */
  signal: AbortSignal;
}

/** One group of checks: a leaf. It never throws for what it finds. */
export interface Check {
  name: string;
  run(context: CheckContext): Promise<Finding[]>;
}

export function ok(part: string, message: string): Finding {
  return { part, status: "ok", message };
}

export function warning(part: string, message: string, fix: string): Finding {
  return { part, status: "warning", message, fix };
}

export function failed(part: string, message: string, fix: string): Finding {
  return { part, status: "failed", message, fix };
}

// One machine on a slow line answers within this; doctor as a whole is over in seconds.
const REQUEST_TIMEOUT_MS = 5000;

/** Discord's list of the channels of a large server is a tenth of this. */
const ANSWER_BYTES_MAX = 4_194_304;

export type Fetched = { ok: true; status: number; body: unknown; date: string | null } | { ok: false; why: string };

/** Fetches JSON. A server that answers anything at all is `ok`; what it said is in `status` and `body`. */
export async function fetchJson(
  url: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Fetched> {
  try {
    const until = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    const response = await fetch(url, { headers, signal: until });
    const text = await boundedText(response);
    if (text === null) return { ok: false, why: "its answer has no end" };
    return { ok: true, status: response.status, body: parseJson(text), date: response.headers.get("date") };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, why: error.name === "TimeoutError" ? "no answer within five seconds" : causeOf(error) };
  }
}

function causeOf({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  return "code" in cause ? String(cause.code) : cause.message;
}

/** Null for an answer that is longer than any that is asked for. */
async function boundedText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
