/**
 * Codes of `error` events and of failures that a client may want to tell apart. Each is explained in docs/errors.md.
 */
export const ERROR_CODES = [
  "unauthorized",
  "forbidden",
  "unlinked",
  "not_found",
  "invalid_request",
  "conflict",
  "too_large",
  "rate_limited",
  "unavailable",
  "internal",
  "model_rate_limited",
  "model_overloaded",
  "model_unreachable",
  "model_timeout",
  "model_rejected",
  "model_authentication",
  "model_context_overflow",
  "model_content_filter",
  "model_refused",
  "model_empty",
  "model_cut",
  "model_malformed",
  "turn_limit",
  "store_unavailable",
  "store_damaged",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Body of every answer that is not a success. More fields may stand beside `error`. */
export interface ErrorBody {
  /** One plain sentence: what, why, what to do. */
  error: string;
  code?: ErrorCode;
}

/** A failure that has a place in an HTTP answer. Anything else that is thrown becomes a 500 without its message. */
export class AppError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    extra: { body?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = "AppError";
    this.status = status;
    this.code = code;
    this.body = extra.body ?? {};
    this.headers = extra.headers ?? {};
  }
}
