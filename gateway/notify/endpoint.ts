import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import type { AddressInfo } from "node:net";
import { PATHS } from "../../src/protocol/paths.ts";
import type { Gateway } from "../gateway.ts";
import { authorizeCaller } from "./authorize.ts";
import { createDeliver } from "./deliver.ts";
import { checkRequest } from "./request.ts";

/** As the contract says; a notification itself is at most 2,000 characters. */
const BODY_BYTES_MAX = 10 * 1024 * 1024;
/** More than servers send, less than would get the bot into trouble with its platform. */
const REQUESTS_PER_SECOND = 20;
const REQUESTS_BURST = 100;

/** The HTTP side of a gateway: notifications from the server, and a sign of life. */
export interface NotifyEndpoint {
  port: number;
  close(): Promise<void>;
}

export async function startNotifyEndpoint(gateway: Gateway): Promise<NotifyEndpoint> {
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: true,
    onProtoPoisoning: "remove",
    onConstructorPoisoning: "remove",
  });
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) gateway.log.error("notify.failed", { error: error });
    return answer(reply, status, errorWords(status));
  });
  app.setNotFoundHandler((_request, reply) => answer(reply, 404, "There is nothing here."));
  addRoutes(app, gateway);
  await app.listen({ host: gateway.settings.channel.host, port: gateway.settings.channel.port });
  const { port } = app.server.address() as AddressInfo;
  return { port, close: () => app.close() };
}

function addRoutes(app: FastifyInstance, gateway: Gateway): void {
  const deliver = createDeliver(gateway);
  const bucket = createBucket(() => gateway.clock.now());
  app.get(PATHS.health, () => ({ status: "ok", service: "channel", channel_type: gateway.adapter.channel_type }));
  app.route({
    method: "POST",
    url: PATHS.notify,
    // Nobody makes us read ten megabytes without a token.
    onRequest: async (request, reply) => {
      const caller = await authorizeCaller(gateway.settings.jwt_secret, gateway.clock, request.headers.authorization);
      if (!caller.ok) return answer(reply, caller.status, caller.error);
      const wait_s = bucket();
      if (wait_s > 0) {
        return answer(
          reply.header("retry-after", String(wait_s)),
          429,
          "Too many notifications at once. Try again in a moment.",
        );
      }
      return undefined;
    },
    handler: async (request, reply) => {
      const checked = checkRequest(request.body);
      if (!checked.ok) return answer(reply, 400, checked.error);
      const results = await deliver(checked.request);
      return results === null ? answer(reply, 404, "target not found or has no linked channels") : { results };
    },
  });
}

function answer(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).send({ error });
}

function errorWords(status: number): string {
  if (status === 413) return `The body is larger than ${BODY_BYTES_MAX} bytes.`;
  if (status === 415) return "The body must be JSON (content-type application/json).";
  return status < 500 ? "The body is not valid JSON." : "Something went wrong in the gateway; its log says what.";
}

/** A token bucket; answers the seconds to wait, 0 when there is room. */
function createBucket(now: () => number): () => number {
  let tokens = REQUESTS_BURST;
  let filled = now();
  return () => {
    const at = now();
    tokens = Math.min(REQUESTS_BURST, tokens + ((at - filled) / 1000) * REQUESTS_PER_SECOND);
    filled = at;
    if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / REQUESTS_PER_SECOND));
    tokens -= 1;
    return 0;
  };
}
