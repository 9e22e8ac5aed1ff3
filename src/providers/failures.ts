import { isJsonObject } from "../protocol/json.ts";
import type { ErrorCode } from "../protocol/error.ts";
import type { ProviderFailure } from "../contracts/provider.ts";
import { createRedactor } from "../lib/redact.ts";

/** Characters of a server's own words that go into the log. */
const DETAIL_CHARACTERS_MAX = 2000;

/** Five minutes: whoever asks for more is told so, and asked again then. */
const RETRY_AFTER_MS_MAX = 300_000;

/** What is known of a failed call before it is understood. */
export interface ServerError {
  /** HTTP status; undefined for an error inside a stream that began well. */
  status?: number | undefined;
  /** The body, or the error object of a stream. */
  body: unknown;
  headers?: Headers | undefined;
  api_key: string;
}

/** The answer was not what its protocol says. Thrown by folds and turned into a failure by the call that runs them. */
export class MalformedAnswer extends Error {}

/** Nothing came for longer than the settings allow. */
export class StreamStalled extends Error {}

interface ErrorFields {
  message: string;
  kind: string;
  status: number | undefined;
}

const REFUSED = "The model's server refused the request. The log says why.";

/** How servers say that a conversation is too long; each says it in its own words. */
const OVERFLOW = new RegExp(
  [
    "context[ _-]?(length|window|size)",
    "maximum context",
    "prompt (is )?too long",
    "input is too long",
    "too many (input |prompt )?tokens",
    "exceeds? the (available |maximum )?(context|number of tokens)",
    "exceed_context_size",
    "reduce the length of the messages",
    "input tokens exceed",
  ].join("|"),
  "i",
);
const RATE_LIMIT = /rate.?limit|per (minute|hour|day|second)|too many requests|\b[TR]PM\b/i;
const NO_CREDIT = /insufficient_quota|insufficient.{0,10}(credit|balance|funds)|credit balance|billing/i;
const FILTERED = /content_filter|content.?policy|content management policy|responsible.?ai|flagged/i;
const OVERLOADED = /overloaded|over capacity|server is busy/i;

/** Understands an error that a model's server sent, as a status or inside an answer. */
export function failureFromServer(error: ServerError): ProviderFailure {
  const fields = errorFields(error);
  const words = `${fields.kind} ${fields.message}`;
  const detail = safeDetail(`${fields.status ?? "in stream"} ${words}`, error.api_key);
  const status = fields.status;
  if (status === 402 || (status === 429 && NO_CREDIT.test(words))) {
    return failure("model_rate_limited", "The model's account has no credit left. Its owner has to top it up.", detail);
  }
  if (status === 429 || (status !== 413 && RATE_LIMIT.test(words))) return rateLimited(error.headers, detail);
  if (OVERFLOW.test(words) || status === 413) {
    return failure("model_context_overflow", "The conversation is longer than the model can take.", detail);
  }
  if (status === 401 || status === 403 || /authentication|invalid.?api.?key|permission_error/i.test(fields.kind)) {
    return failure(
      "model_authentication",
      "The model's server refused the key. Check the API key in the settings.",
      detail,
    );
  }
  if (FILTERED.test(words)) {
    return failure(
      "model_content_filter",
      "The model's content filter stopped the request. Put it differently.",
      detail,
    );
  }
  if (status === 408 || status === 504 || /timeout/i.test(fields.kind)) {
    return failure("model_timeout", "The model's server took too long. Try again.", detail, true);
  }
  if (status === 503 || status === 529 || OVERLOADED.test(words)) {
    return {
      ...failure("model_overloaded", "The model's server is overloaded. Try again soon.", detail, true),
      ...retryAfter(error.headers),
    };
  }
  if (status === 404) {
    return failure(
      "model_rejected",
      "The server does not know this model. Check the model's name and address.",
      detail,
    );
  }
  if (status !== undefined && status >= 400 && status < 500) return failure("model_rejected", REFUSED, detail);
  if (status === undefined && /invalid_|not_found/i.test(fields.kind)) {
    return failure("model_rejected", REFUSED, detail);
  }
  return {
    ...failure("model_overloaded", "The model's server failed. Try again.", detail, true),
    ...retryAfter(error.headers),
  };
}

const CUT = "The connection to the model broke in the middle of the answer. Try again.";

const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** How far a call had come: only what fails before `sending` is our own fault. */
export type CallStage = "preparing" | "sending" | "answering";

/** Understands what was thrown while a call ran. */
export function failureFromThrown(error: unknown, stage: CallStage, api_key: string): ProviderFailure {
  const detail = safeDetail(describeCauses(error), api_key);
  if (stage === "preparing") {
    return failure("internal", "The request to the model could not be put together. The log says why.", detail);
  }
  if (error instanceof StreamStalled) {
    return failure("model_timeout", "The model's server fell silent. Try again.", detail, true);
  }
  if (error instanceof MalformedAnswer) {
    return failure(
      "model_malformed",
      "The model's server sent something that is not an answer. Try again.",
      detail,
      true,
    );
  }
  if (isServerError(error)) {
    return failureFromServer({
      status: error.status,
      body: error.error ?? error.message,
      headers: error.headers,
      api_key,
    });
  }
  const codes = causesOf(error).map(codeOf);
  if (codes.some((code) => /CERT|TLS|SSL|SELF_SIGNED/.test(code))) {
    return failure("model_unreachable", "The model's server has a certificate that cannot be trusted.", detail);
  }
  if (codes.some((code) => UNREACHABLE.has(code))) {
    return failure(
      "model_unreachable",
      "The model's server cannot be reached. Check that it runs and that its address is right.",
      detail,
      true,
    );
  }
  if (stage === "answering") return failure("model_cut", CUT, detail, true);
  return failure("model_unreachable", "The connection to the model's server failed. Try again.", detail, true);
}

/** The server said that it was done, but not how the answer ended. */
export const NOT_FINISHED: ProviderFailure = failure(
  "model_malformed",
  "The model's server ended its answer without saying why. Try again.",
  "end mark without a finish reason",
  true,
);

/** The stream ended before the answer did. */
export const BROKEN_OFF: ProviderFailure = failure("model_cut", CUT, "the stream ended without a finish reason", true);

/** The caller's own signal ended the call. */
export function stopped(): ProviderFailure {
  return failure("model_cut", "The call to the model was stopped.", "aborted by the caller");
}

/** A failure that is not to be tried again unless said so. */
export function failure(code: ErrorCode, message: string, detail: string, retryable = false): ProviderFailure {
  return { code, message, detail, retryable };
}

/** A server's words for the log: without keys, and short. */
export function safeDetail(text: string, api_key: string): string {
  return createRedactor([api_key])(text).slice(0, DETAIL_CHARACTERS_MAX);
}

/** Milliseconds that `Retry-After` (RFC 9110, section 10.2.3: seconds or a date) or `retry-after-ms` asks for. */
export function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers?.get("retry-after");
  if (value === null || value === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number.parseFloat(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function rateLimited(headers: Headers | undefined, detail: string): ProviderFailure {
  const asked = retryAfterMs(headers, Date.now());
  const limited = failure(
    "model_rate_limited",
    "The model's server limits how often it may be asked. Try again soon.",
    detail,
    true,
  );
  if (asked === undefined) return limited;
  if (asked <= RETRY_AFTER_MS_MAX) return { ...limited, retry_after_ms: asked };
  return {
    ...limited,
    message: `The model's server asks to wait ${inWords(asked)}; it is asked again in ${inWords(RETRY_AFTER_MS_MAX)}.`,
    retry_after_ms: RETRY_AFTER_MS_MAX,
  };
}

function retryAfter(headers: Headers | undefined): { retry_after_ms?: number } {
  const asked = retryAfterMs(headers, Date.now());
  return asked === undefined ? {} : { retry_after_ms: Math.min(asked, RETRY_AFTER_MS_MAX) };
}

function inWords(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** Servers put the text at different depths, and some put the status into `code`. */
function errorFields(error: ServerError): ErrorFields {
  const outer = error.body;
  const inner = isJsonObject(outer) && isJsonObject(outer["error"]) ? outer["error"] : outer;
  if (!isJsonObject(inner)) return { message: typeof inner === "string" ? inner : "", kind: "", status: error.status };
  const text = inner["message"] ?? inner["detail"] ?? inner["error"];
  const code = Number(inner["code"] ?? inner["status"]);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
  return {
    message: typeof text === "string" ? text : JSON.stringify(inner),
    kind: [inner["type"], inner["code"]].filter((value) => typeof value === "string").join(" "),
    status: error.status ?? status,
  };
}

interface SdkError {
  status: number;
  headers: Headers | undefined;
  error?: unknown;
  message: string;
}

/** Both vendors' SDKs throw errors of this shape for a status that is not a success. */
function isServerError(error: unknown): error is SdkError {
  return error instanceof Error && typeof (error as { status?: unknown }).status === "number";
}

function causesOf(error: unknown): object[] {
  const causes: object[] = [];
  let current: unknown = error;
  while (typeof current === "object" && current !== null && causes.length < 8) {
    causes.push(current);
    if (current instanceof AggregateError) {
      causes.push(...current.errors.filter((one) => typeof one === "object" && one !== null));
    }
    current = "cause" in current ? current.cause : undefined;
  }
  return causes;
}

function codeOf(cause: object): string {
  return "code" in cause && typeof cause.code === "string" ? cause.code : "";
}

function describeCauses(error: unknown): string {
  return causesOf(error)
    .map((cause) => (cause instanceof Error ? cause.message : JSON.stringify(cause)))
    .join(" < ");
}
