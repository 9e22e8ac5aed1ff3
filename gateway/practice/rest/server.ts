import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "../../../src/protocol/json.ts";
import { DiscordFailure, failure } from "../failure.ts";
import type { RouteFault, RouteFaults } from "../faults.ts";
import { REQUEST_BYTES_MAX } from "../files.ts";
import type { RequestRecord, World } from "../model.ts";
import { archiveIdleThreads } from "../threads.ts";
import { readBody } from "./body.ts";
import type { Body } from "./body.ts";
import { channelRoutes } from "./channels.ts";
import { guildRoutes } from "./guilds.ts";
import { interactionRoutes } from "./interactions.ts";
import { messageRoutes } from "./messages.ts";
import { LATE_EDITS_ROUTE, refusal } from "./rate_limits.ts";
import type { RateLimiter, Verdict } from "./rate_limits.ts";
import { ok, route } from "./route.ts";
import type { Reply, Route } from "./route.ts";

/** Where the API lies on the server; clients add the route. */
export const API_PREFIX = "/api/v10";

/** From here on edits of a message are counted more strictly. */
const LATE_AFTER_MS = 60 * 60_000;

export interface RestOptions {
  world: World;
  limiter: RateLimiter;
  faults: RouteFaults;
  requests: RequestRecord[];
  unserved: string[];
  /** The gateway's address, known once the server listens. */
  gatewayUrl(): string;
}

/** Serves Discord's REST routes under `API_PREFIX`, and logs each request, also those that nobody serves. */
export async function serveRest(app: FastifyInstance, options: RestOptions): Promise<void> {
  await app.register(
    async (api) => {
      api.removeAllContentTypeParsers();
      const whole = { parseAs: "buffer", bodyLimit: REQUEST_BYTES_MAX } as const;
      api.addContentTypeParser("*", whole, (_request, body, done) => done(null, body));
      for (const one of allRoutes(options)) {
        api.route({
          method: one.method,
          url: one.path,
          handler: (request, reply) => serve(options, one, request, reply),
        });
      }
      api.all("/*", (request, reply) => serve(options, null, request, reply));
      api.setErrorHandler((error, request, reply) => {
        const refused = isTooLarge(error)
          ? failure("too_large")
          : new DiscordFailure(500, 0, "500: Internal Server Error");
        if (refused.status === 500) process.emitWarning(`The practice Discord failed: ${String(error)}`);
        return finish(options, request, reply, { route: null, body: null, files: [] }, refused.status, refused.body);
      });
    },
    { prefix: API_PREFIX },
  );
}

function allRoutes(options: RestOptions): Route[] {
  return [
    route("GET", "/gateway/bot", () => ok(gatewayPayload(options))),
    { ...route("GET", "/gateway", () => ok({ url: options.gatewayUrl() })), authorized: false },
    ...guildRoutes,
    ...channelRoutes,
    ...messageRoutes,
    ...interactionRoutes,
  ];
}

function gatewayPayload(options: RestOptions): JsonValue {
  const limit = { total: 1000, remaining: 1000, reset_after: 86_400_000, max_concurrency: 1 };
  return { url: options.gatewayUrl(), shards: 1, session_start_limit: limit };
}

/** Requests that the log keeps. */
const REQUESTS_MAX = 20_000;

interface Seen {
  route: string | null;
  body: JsonValue;
  files: Body["files"];
}

async function serve(
  options: RestOptions,
  served: Route | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { world } = options;
  const seen: Seen = { route: served?.path ?? null, body: null, files: [] };
  const faults = options.faults.strike(request.method, pathOf(request));
  for (const fault of faults) if (fault.kind === "delay") await delay(fault.delay_ms);
  if (faults.some((fault) => fault.kind === "reset")) return cut(options, request, reply, seen);
  const verdict = served === null ? { headers: {} } : verdictOf(options, served, request, faults);
  reply.headers(verdict.headers);
  if ("body" in verdict) return finish(options, request, reply, seen, 429, verdict.body);
  archiveIdleThreads(world);
  let answer: Reply;
  try {
    answer = await answerOf(options, served, request, seen, faults);
  } catch (error) {
    if (!(error instanceof DiscordFailure)) throw error;
    answer = { status: error.status, body: error.body };
  }
  if (faults.some((fault) => fault.kind === "lost_answer")) return cut(options, request, reply, seen);
  return finish(options, request, reply, seen, answer.status, answer.body ?? null);
}

async function answerOf(
  options: RestOptions,
  served: Route | null,
  request: FastifyRequest,
  seen: Seen,
  faults: readonly RouteFault[],
): Promise<Reply> {
  const { world } = options;
  const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const read = await readBody(bytes, request.headers["content-type"] ?? "");
  seen.body = read.list.length > 0 ? read.list : read.body;
  seen.files = read.files;
  const status = faults.find((fault) => fault.kind === "status");
  if (status !== undefined) {
    return { status: status.status, ...(status.body === undefined ? {} : { body: status.body }) };
  }
  if (served === null) {
    options.unserved.push(`${request.method} ${pathOf(request)}`);
    if (options.unserved.length > REQUESTS_MAX) options.unserved.shift();
    throw failure("not_found");
  }
  if (served.authorized && request.headers.authorization !== `Bot ${world.bot_token}`) throw failure("unauthorized");
  return served.handle({
    world,
    params: request.params as Record<string, string>,
    query: request.query as Record<string, string | undefined>,
    ...read,
  });
}

function verdictOf(
  options: RestOptions,
  served: Route,
  request: FastifyRequest,
  faults: readonly RouteFault[],
): { headers: Record<string, string>; body?: JsonValue } {
  const fault = faults.find((one) => one.kind === "rate_limit");
  if (fault !== undefined) return refusal(fault.retry_after_ms, fault.scope ?? "user", {});
  // Discord exempts callbacks from bucket headers and all interaction routes from the global limit.
  if (served.path.endsWith("/callback")) return { headers: {} };
  const params = request.params as Record<string, string | undefined>;
  const major = params["channel_id"] ?? params["guild_id"] ?? params["token"] ?? "";
  const verdict = options.limiter.take(`${served.method} ${served.path}`, major, served.authorized);
  return verdict.allowed && isLateEdit(options.world, served, params) ? lateEdit(options.limiter, major) : verdict;
}

function isLateEdit(world: World, served: Route, params: Record<string, string | undefined>): boolean {
  if (served.method !== "PATCH" || !served.authorized) return false;
  const message = world.messages.get(params["channel_id"] ?? "")?.get(params["message_id"] ?? "");
  return message !== undefined && world.now() - message.created_at > LATE_AFTER_MS;
}

function lateEdit(limiter: RateLimiter, channel_id: string): Verdict {
  const verdict = limiter.take(LATE_EDITS_ROUTE, channel_id, false);
  if (verdict.allowed) return verdict;
  const message = "Maximum number of edits to messages older than 1 hour reached. Try again later";
  return { ...verdict, body: { ...verdict.body, message, code: 30046 } };
}

function pathOf(request: FastifyRequest): string {
  return request.url.slice(API_PREFIX.length);
}

function finish(
  options: RestOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  seen: Seen,
  status: number,
  body: JsonValue,
): FastifyReply {
  if (reply.getHeader("x-ratelimit-scope") !== "shared") options.limiter.countStatus(status);
  record(options, request, seen, status, body);
  reply.code(status);
  return body === null ? reply.send() : reply.type("application/json").send(JSON.stringify(body));
}

function cut(options: RestOptions, request: FastifyRequest, reply: FastifyReply, seen: Seen): FastifyReply {
  record(options, request, seen, 0, null);
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

function record(options: RestOptions, request: FastifyRequest, seen: Seen, status: number, response: JsonValue): void {
  options.requests.push({
    at: options.world.now(),
    method: request.method,
    path: pathOf(request),
    route: seen.route,
    body: seen.body,
    files: seen.files.map((file) => ({ name: file.name, filename: file.filename, size: file.bytes.length })),
    status,
    response,
  });
  if (options.requests.length > REQUESTS_MAX) options.requests.shift();
  options.world.changes.emit({ kind: "request" });
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "FST_ERR_CTP_BODY_TOO_LARGE";
}
