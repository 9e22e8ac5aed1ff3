import { describeError } from "../lib/log.ts";
import type { JsonObject } from "../protocol/json.ts";

/** What a request to a server came to. */
export type Outcome =
  | { status: "answered"; result: JsonObject }
  /** The server's own refusal, in its words. */
  | { status: "refused"; error: string; code: number; pages: RequiredPage[] }
  | { status: "timed_out" }
  | { status: "cancelled" }
  /** The way to the server is gone. `reached`: it may have begun to act. */
  | { status: "lost"; error: string; reached: boolean }
  /** The server on the network does not know our session any more; it did nothing. */
  | { status: "session_expired" }
  /** The server wants to know the person, and does not. It did nothing. */
  | { status: "sign_in_required" };

/** A page that a person must have dealt with before the server does what was asked. */
export interface RequiredPage {
  message: string;
  url: string;
}

/** JSON-RPC codes that the SDK makes up itself. */
const CONNECTION_CLOSED = -32_000;
const REQUEST_TIMEOUT = -32_001;
/** MCP's own: people must open pages first. */
const PAGE_REQUIRED = -32_042;

/** Causes of network failures before anything was sent. */
const NOT_REACHED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** HTTP answers to a session that a server does not know: 404 by the specification, 400 by widespread use. */
const SESSION_UNKNOWN = new Set([404, 400]);

/** Makes sense of what the SDK rejects with. `is_open` tells whether the session outlived it. */
export function failureOf(
  error: unknown,
  is_open: boolean,
  signal: AbortSignal,
): Exclude<Outcome, { status: "answered" | "sign_in_required" }> {
  if (signal.aborted) return { status: "cancelled" };
  const code = codeOf(error);
  if (isNamed(error, "McpError")) {
    const words = error.message.replace(/^MCP error -?\d+: /, "");
    if (code === REQUEST_TIMEOUT && "data" in error && hasTimeout(error.data)) return { status: "timed_out" };
    if (code === CONNECTION_CLOSED && !is_open) {
      return { status: "lost", error: "the connection was lost", reached: true };
    }
    const pages = code === PAGE_REQUIRED && "data" in error ? pagesOf(error.data) : [];
    return { status: "refused", error: words, code: typeof code === "number" ? code : 0, pages };
  }
  if (isHttpError(error) && typeof code === "number") {
    if (SESSION_UNKNOWN.has(code)) return { status: "session_expired" };
    return { status: "lost", error: `it answers HTTP ${code}`, reached: false };
  }
  return { status: "lost", error: describeError(error), reached: !(isNotReached(error) || !is_open) };
}

function pagesOf(data: unknown): RequiredPage[] {
  const listed: unknown = typeof data === "object" && data !== null && "elicitations" in data ? data.elicitations : [];
  return (Array.isArray(listed) ? listed : []).flatMap((one: unknown) => {
    const named = typeof one === "object" && one !== null && "url" in one && "message" in one;
    return named && typeof one.url === "string" ? [{ url: one.url, message: String(one.message) }] : [];
  });
}

function isNamed(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name === name;
}

function isHttpError(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Streamable HTTP error: ");
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function hasTimeout(data: unknown): boolean {
  return typeof data === "object" && data !== null && ("timeout" in data || "maxTotalTimeout" in data);
}

function isNotReached(error: unknown): boolean {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const code = codeOf(cause);
    if (typeof code === "string" && NOT_REACHED.has(code)) return true;
  }
  return false;
}

/** One sentence on why a server could not be connected. */
export function connectProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  if (isHttpError(error) && (code === 401 || code === 403)) {
    return `It refuses the credential (HTTP ${code}); look at the headers in its settings.`;
  }
  if (isHttpError(error) && typeof code === "number" && code > 0) return `It answers HTTP ${code}; look at its url.`;
  if (isNotReached(error)) return "Nothing answers at its url.";
  if (isNamed(error, "McpError") && code === REQUEST_TIMEOUT) return "It did not answer the handshake in time.";
  const cause = error.cause instanceof Error && error.message === "fetch failed" ? error.cause : error;
  return cause.message === "" ? cause.name : cause.message;
}
