import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../../contracts/principal.ts";
import { EventsQuery } from "../../protocol/answers.ts";
import { AppError } from "../../protocol/error.ts";
import { PATHS } from "../../protocol/paths.ts";
import { accessWorkstream } from "../access.ts";
import { streamChannel } from "../channel_stream.ts";
import type { HttpContext } from "../context.ts";
import { rateLimited, unknownWorkstream } from "../failures.ts";
import { streamGlobal } from "../global_stream.ts";
import { credentialsOf } from "../guard.ts";
import { type Route, route } from "../route.ts";
import type { SseConnection } from "../sse_hub.ts";
import { streamStart, streamWorkstream } from "../sse_stream.ts";

/** Seconds after which a client with too many streams may try again. */
const QUOTA_RETRY_S = 30;

const EVENT_STREAM = "text/event-stream";

export function eventRoutes(context: HttpContext): Route[] {
  return [workstreamEvents(context), globalEvents(context), channelEvents(context)];
}

function workstreamEvents(context: HttpContext): Route {
  const { store } = context;
  return route({
    method: "GET",
    path: PATHS.events,
    summary: "What happens in a workstream, as server-sent events",
    scope: "read",
    query: EventsQuery,
    answer: null,
    media_type: EVENT_STREAM,
    async handle({ principal, params, query, request, reply }) {
      const { ws_id, last_seq } = await accessWorkstream(store, principal, params["ws_id"], "see");
      const header = request.headers["last-event-id"];
      const start = streamStart((Array.isArray(header) ? header[0] : header) ?? query.last_event_id, last_seq);
      const stillAllowed = async (): Promise<boolean> => {
        const authentication = await context.authenticator.authenticate(credentialsOf(request));
        return authentication.ok && (await allows(accessWorkstream(store, authentication.principal, ws_id, "see")));
      };
      const wanted = { ws_id, start, user_id: principal.user_id };
      const opened = await streamWorkstream(context, () => open(context, principal, reply, stillAllowed), wanted);
      if (!opened) throw unknownWorkstream();
    },
  });
}

function globalEvents(context: HttpContext): Route {
  const { store, engine } = context;
  return route({
    method: "GET",
    path: PATHS.events_global,
    summary: "States, names, beginnings and ends of all workstreams that the caller may see",
    scope: "read",
    answer: null,
    media_type: EVENT_STREAM,
    handle({ principal, request, reply }) {
      const connection = open(context, principal, reply, () => isStillKnown(context, request));
      const maySee = (ws_id: string): Promise<boolean> => allows(accessWorkstream(store, principal, ws_id, "see"));
      streamGlobal(engine, connection, maySee, (error) => report(context, error));
    },
  });
}

function channelEvents(context: HttpContext): Route {
  return route({
    method: "GET",
    path: PATHS.channel_events,
    summary: "What happens in every workstream that is shown on a platform, for its gateway",
    scope: "service",
    answer: null,
    media_type: EVENT_STREAM,
    async handle({ principal, params, request, reply }) {
      const connection = open(context, principal, reply, () => isStillKnown(context, request));
      const dependencies = {
        ...context,
        changes: context.route_changes,
        node_id: context.options.node_id,
        report: (error: unknown) => report(context, error),
      };
      try {
        await streamChannel(dependencies, connection, params["channel_type"] ?? "");
      } catch (error) {
        report(context, error);
        connection.close();
      }
    },
  });
}

function open(
  { hub, stream_quota, metrics }: HttpContext,
  { credential_id }: Principal,
  reply: FastifyReply,
  stillAllowed: () => Promise<boolean>,
): SseConnection {
  if (!stream_quota.allows(credential_id)) {
    metrics.rateLimited();
    throw rateLimited("Too many streams are open with this credential. Close some.", QUOTA_RETRY_S);
  }
  reply.hijack();
  const connection = hub.open(reply.raw, stillAllowed);
  stream_quota.count(credential_id, connection);
  return connection;
}

async function isStillKnown({ authenticator }: HttpContext, request: FastifyRequest): Promise<boolean> {
  return (await authenticator.authenticate(credentialsOf(request))).ok;
}

/** Whether a check passes; a refusal is a no, anything else is passed on. */
async function allows(check: Promise<unknown>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function report({ log }: HttpContext, error: unknown): void {
  log.error("stream.failed", { error });
}
