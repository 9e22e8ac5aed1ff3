import { AppError } from "../protocol/error.ts";

/** The one answer for a workstream that is not there and for one that the person may not know of. */
export function unknownWorkstream(): AppError {
  return new AppError(404, "not_found", "Unknown workstream");
}

export function notFound(what: string): AppError {
  return new AppError(404, "not_found", what);
}

/** For a channel without a route. */
export function nothingShown(): AppError {
  return notFound("Nothing is shown in this channel.");
}

export function invalid(message: string, body: Record<string, unknown> = {}): AppError {
  return new AppError(400, "invalid_request", message, { body });
}

export function conflict(message: string, body: Record<string, unknown> = {}): AppError {
  return new AppError(409, "conflict", message, { body });
}

export function forbidden(message: string): AppError {
  return new AppError(403, "forbidden", message);
}

export function unauthorized(): AppError {
  return new AppError(401, "unauthorized", "Log in first: this needs a valid token or session.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

/** `code` tells a gateway that the person has no account here yet. */
export function unlinked(): AppError {
  return new AppError(403, "unlinked", "This person is not linked to an account. Link one first.");
}

export function rateLimited(message: string, retry_after_s: number): AppError {
  return new AppError(429, "rate_limited", message, {
    body: { retry_after: retry_after_s },
    headers: { "retry-after": String(retry_after_s) },
  });
}
