import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { newPrefixedId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { AppError, type ErrorCode } from "../protocol/error.ts";
import { DamagedStoreError, StoreError } from "../store/index.ts";
import { SECURITY_HEADERS } from "./security.ts";

/** What Fastify's own refusals mean for people. */
const MESSAGES: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "The body is too large.",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "Send JSON with the header content-type: application/json.",
  FST_ERR_CTP_INVALID_JSON_BODY: "The body is not valid JSON.",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "The body is not as long as its header says.",
  FST_ERR_BAD_URL: "The address is not encoded as addresses are; encode each part of it.",
  FST_ERR_MAX_PARAM_LENGTH: "A part of the address is too long.",
};

const DAMAGED =
  "A part of the database is damaged, so this cannot be done; whoever runs the server must restore a backup with `turnstone admin restore`.";

/** The one place where a failure becomes an answer. What was not meant for people goes to the log alone. */
export function answerError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent) return;
  if (error instanceof StoreError) log.error("store.unavailable", { route: request.routeOptions.url, error });
  const failure = asAppError(error, request);
  reply.headers(SECURITY_HEADERS);
  if (failure !== null) {
    reply.code(failure.status).headers(failure.headers);
    reply.send({ error: failure.message, code: failure.code, ...failure.body });
    return;
  }
  const reference_id = newPrefixedId("err");
  log.error("request.failed", { reference_id, method: request.method, route: request.routeOptions.url, error });
  const message = `Something went wrong here. Whoever runs the server finds the cause in its log: ${reference_id}.`;
  reply.code(500).send({ error: message, code: "internal", reference_id });
}

function asAppError(error: unknown, request: FastifyRequest): AppError | null {
  if (error instanceof AppError) return error;
  // Nothing that is tried again will help, so that nobody waits for it.
  if (error instanceof DamagedStoreError) return new AppError(500, "store_damaged", DAMAGED);
  // Its cause passes, and nothing of the request has happened: whoever asks again in a moment loses nothing.
  if (error instanceof StoreError) {
    const message = `The server cannot store anything at the moment, so nothing was done; try again soon. ${error.message}`;
    return new AppError(503, "store_unavailable", message, { headers: { "retry-after": "5" } });
  }
  const { statusCode, code } = error as Partial<FastifyError>;
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode >= 500) return null;
  const message = MESSAGES[String(code)] ?? "The request cannot be understood.";
  // A body without any content type is a plain mistake in the request, not a foreign format.
  const untyped = statusCode === 415 && request.headers["content-type"] === undefined;
  return new AppError(untyped ? 400 : statusCode, codeOf(statusCode), message);
}

function codeOf(status: number): ErrorCode {
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  return status === 404 ? "not_found" : "invalid_request";
}
