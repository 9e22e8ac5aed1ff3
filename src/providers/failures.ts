import { isJsonObject } from "../protocol/json.ts";
import type { ErrorCode } from "../protocol/error.ts";
import type { ProviderFailure } from "../contracts/provider.ts";
import { createRedactor } from "../lib/redact.ts";

/** Characters of a server's own words that go into the log. */
const DETAIL_CHARACTERS_MAX = 2000;

/** Five minutes: nobody sits out a longer wait, so it is put into words. */
const PATIENCE_MS = 300_000;

/** A week: what asks for more has lost its clock. */
const RETRY_AFTER_MS_MAX = 7 * 24 * 3_600_000;

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
  status: number | undefined;
  /** The server's own names for the error, such as `rate_limit_error`. */
  kind: string;
  /** Those names and the message, to look words up in. */
  words: string;
}

/** How servers say that a conversation is too long; each says it in its own words. */
const OVERFLOW = new RegExp(
  [
    "context[ _-]?(length|window|size)",
    "maximum (context|prompt length)",
    "prompt (is )?too long",
    "input is too long",
    "too many (input |prompt )?tokens",
    "exceeds? (the (available |maximum )?)?(context|number of tokens)",
    "exceed_context_size",
    "reduce the length of the messages",
    "input tokens exceed",
    "max_new_tokens",
  ].join("|"),
  "i",
);
const RATE_LIMIT = /rate.?limit|per (minute|hour|day|second)|too many requests|\b[TR]PM\b/i;
const NO_CREDIT = /insufficient_quota|insufficient.{0,10}(credit|balance|funds)|credit balance|billing/i;
const FILTERED = /content_filter|content.?policy|content management policy|responsible.?ai|flagged/i;
const OVERLOADED = /overloaded|over capacity|server is busy/i;
const BAD_KEY = /authentication|invalid.?api.?key|permission_error/i;

/** What an error comes to when it applies; the first rule that does counts. */
interface Rule {
  applies(error: ErrorFields): boolean;
  code: ErrorCode;
  message: string;
  retryable: boolean;
}

/** Limits on the rate stand before the length of the conversation: their texts speak of maximum tokens too. */
const RULES: readonly Rule[] = [
  {
    applies: ({ status, words }) => status === 402 || (status === 429 && NO_CREDIT.test(words)),
    code: "model_rate_limited",
    message: "The model's account has no credit left. Its owner has to top it up.",
    retryable: false,
  },
  {
    applies: ({ status, words }) => status === 429 || (status !== 413 && RATE_LIMIT.test(words)),
    code: "model_rate_limited",
    message: "The model's server limits how often it may be asked. Try again soon.",
    retryable: true,
  },
  {
    applies: ({ status, words }) => status === 413 || OVERFLOW.test(words),
    code: "model_context_overflow",
    message: "The conversation is longer than the model can take.",
    retryable: false,
  },
  {
    applies: ({ status, kind }) => status === 401 || status === 403 || BAD_KEY.test(kind),
    code: "model_authentication",
    message: "The model's server refused the key. Check the API key in the settings.",
    retryable: false,
  },
  {
    applies: ({ words }) => FILTERED.test(words),
    code: "model_content_filter",
    message: "The model's content filter stopped the request. Put it differently.",
    retryable: false,
  },
  {
    applies: ({ status, kind }) => status === 408 || status === 504 || /timeout/i.test(kind),
    code: "model_timeout",
    message: "The model's server took too long. Try again.",
    retryable: true,
  },
  {
    applies: ({ status, words }) => status === 503 || status === 529 || OVERLOADED.test(words),
    code: "model_overloaded",
    message: "The model's server is overloaded. Try again soon.",
    retryable: true,
  },
  {
    applies: ({ status }) => status === 404,
    code: "model_rejected",
    message: "The server does not know this model. Check the model's name and address.",
    retryable: false,
  },
  {
    applies: ({ status, kind }) => (status === undefined ? /invalid_|not_found/i.test(kind) : status < 500),
    code: "model_rejected",
    message: "The model's server refused the request. The log says why.",
    retryable: false,
  },
];

const SERVER_FAILED = {
  code: "model_overloaded",
  message: "The model's server failed. Try again.",
  retryable: true,
} as const;

/** Understands an error that a model's server sent, as a status or inside an answer. */
export function failureFromServer(error: ServerError): ProviderFailure {
  const fields = errorFields(error);
  const { code, message, retryable } = RULES.find((rule) => rule.applies(fields)) ?? SERVER_FAILED;
  const detail = safeDetail(`${fields.status ?? "in stream"} ${fields.words}`, error.api_key);
  const found = failure(code, message, detail, retryable);
  return retryable ? withRetryAfter(found, error.headers) : found;
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

/** Adds how long the server asks to wait; a wait that nobody would sit out is put into words. */
function withRetryAfter(found: ProviderFailure, headers: Headers | undefined): ProviderFailure {
  const asked = retryAfterMs(headers, Date.now());
  if (asked === undefined) return found;
  const retry_after_ms = Math.min(asked, RETRY_AFTER_MS_MAX);
  if (asked <= PATIENCE_MS) return { ...found, retry_after_ms };
  const message = `The model's server asks to wait ${inWords(asked)}. Try again later, or use another model.`;
  return { ...found, message, retry_after_ms };
}

function inWords(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** Servers put the text at different depths, and some put the status into `code`. */
function errorFields({ status, body }: ServerError): ErrorFields {
  const inner = isJsonObject(body) && isJsonObject(body["error"]) ? body["error"] : body;
  if (!isJsonObject(inner)) {
    const message = typeof inner === "string" ? inner : "";
    return { status, kind: "", words: message };
  }
  const text = inner["message"] ?? inner["detail"] ?? inner["error"];
  const message = typeof text === "string" ? text : JSON.stringify(inner);
  const kind = [inner["type"], inner["code"]].filter((value) => typeof value === "string").join(" ");
  const code = Number(inner["code"] ?? inner["status"]);
  const named = Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
  return { status: status ?? named, kind, words: `${kind} ${message}` };
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
