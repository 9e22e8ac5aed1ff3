import fastify, {
  errorCodes,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from "fastify";
import { createAuthenticator } from "../auth/authenticate.ts";
import { createLoginLimiter } from "../auth/login_limiter.ts";
import type { Principal } from "../contracts/principal.ts";
import { AppError } from "../protocol/error.ts";
import type { TSchema } from "../protocol/schema.ts";
import type { HttpContext } from "./context.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { answerError } from "./errors.ts";
import { invalid, notFound } from "./failures.ts";
import { admit } from "./guard.ts";
import { createMetrics } from "./metrics.ts";
import { createRateLimit } from "./rate_limit.ts";
import type { Route } from "./route.ts";
import { createRouteChanges } from "./route_changes.ts";
import { routeTable } from "./routes/index.ts";
import { SECURITY_HEADERS } from "./security.ts";
import { createSseHub } from "./sse_hub.ts";
import { createStreamQuota } from "./stream_quota.ts";
import { lazyValidator, type RequestPart } from "./validation.ts";

/** Levels of a body: no schema of ours has more than a few, and each costs a frame of the stack. */
const BODY_DEPTH_MAX = 64;

/** Bytes of a JSON body. */
export /** Of a form on a page of ours. */
const FORM_BYTES_MAX = 65_536;

const BODY_BYTES_MAX = 1024 * 1024;

/** Bytes of an upload, with room for the form around the file. */
export const UPLOAD_BYTES_MAX = 25 * 1024 * 1024 + 64 * 1024;

/** Characters of an id in an address; longer ones are nobody's, and so not found like others. */
const PARAMETER_LENGTH_MAX = 1024;

/** Milliseconds that a client may take for a whole request; an upload over a slow line fits. */
const REQUEST_TIMEOUT_MS = 120_000;

/** Milliseconds that a client may take for the head of a request. */
const HEADERS_TIMEOUT_MS = 15_000;

/** Milliseconds between two looks for clients that took too long. */
const TIMEOUT_CHECK_INTERVAL_MS = 5000;

/**
 * Milliseconds without a byte in either direction after which a connection is cut: who does not read an answer does not
 * keep it in memory for ever. Streams are never silent for so long, and no answer takes longer (a compaction: 300 s).
 */
const SILENCE_TIMEOUT_MS = 330_000;

/** Connections at once: far more than people and programs need, and no more than a small machine can hold. */
const CONNECTIONS_MAX = 4096;

/** Milliseconds that an idle connection is kept; longer than common proxies keep theirs, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks, once the guard has let the request in. */
    principal: Principal | null;
  }
}

/** Makes the HTTP server over an engine and a store. It does not listen yet; `close()` ends all its streams at once. */
export function createApp(dependencies: HttpDependencies): FastifyInstance {
  const { clock, log, options } = dependencies;
  const context: HttpContext = {
    ...dependencies,
    authenticator: createAuthenticator({ ...dependencies, jwt_secret: options.jwt_secret }),
    login_limiter: createLoginLimiter(clock),
    rate_limit: options.rate_limit === null ? null : createRateLimit(clock, options.rate_limit),
    hub: createSseHub(),
    stream_quota: createStreamQuota(),
    route_changes: createRouteChanges(),
    metrics: createMetrics(),
    routes: [],
    started: clock.now(),
  };
  context.routes.push(...routeTable(context));
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: options.trusted_proxies.length > 0 ? [...options.trusted_proxies] : false,
    http: { connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PARAMETER_LENGTH_MAX },
    frameworkErrors: (error, request, reply) => answerError(log, error, request, reply),
    schemaController: { compilersFactory: COMPILERS },
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  app.server.maxConnections = CONNECTIONS_MAX;
  app.decorateRequest("principal", null);
  app.setErrorHandler((error, request, reply) => answerError(log, error, request, reply));
  app.setNotFoundHandler(() => {
    throw notFound("There is nothing at this address.");
  });
  addParsers(app);
  addHooks(app, context);
  for (const route of context.routes) addRoute(app, context, route);
  return app;
}

type Compilers = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;

/**
 * In place of Fastify's own compilers, which would load ajv and compile every schema at the start. Fastify takes any
 * function that answers a failure; its types describe ajv's alone.
 */
const COMPILERS = {
  buildValidator: () => compileSchema,
  buildSerializer: () => () => {
    throw new Error("Answers are serialised by JSON.stringify; routes do not give Fastify a response schema.");
  },
} as unknown as Compilers;

function compileSchema({ schema, httpPart }: { schema: TSchema; httpPart?: string }): (data: unknown) => unknown {
  const part: RequestPart = httpPart === "querystring" ? "querystring" : "body";
  return lazyValidator(schema, part);
}

function addParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body: string, done) => {
    // An empty body is the empty object: whether that is enough is for the schema to say.
    if (body.trim() === "") done(null, {});
    else void parseJson(request, body, (error, value) => done(error === null ? null : notJson(error), value));
  });
  const form = { parseAs: "buffer", bodyLimit: FORM_BYTES_MAX } as const;
  app.addContentTypeParser("application/x-www-form-urlencoded", form, (_request, body, done) => done(null, body));
  app.addContentTypeParser("multipart/form-data", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
}

function notJson(cause: Error): AppError {
  return new AppError(400, "invalid_request", "The body is not valid JSON.", { cause });
}

function addHooks(app: FastifyInstance, context: HttpContext): void {
  app.addHook("onSend", (_request, reply, _payload, done) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const template = request.routeOptions.url ?? "unknown";
    context.metrics.requestHandled(request.method, template, reply.statusCode, reply.elapsedTime / 1000);
    context.log.debug("request.handled", {
      method: request.method,
      route: template,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    });
    done();
  });
  app.addHook("preClose", (done) => {
    context.hub.closeAll();
    done();
  });
}

/** Forms are read for whoever takes them; to all others they are a foreign format. */
function requireFormRoute(route: Route, { headers }: FastifyRequest): void {
  if (route.multipart === true || route.form === true) return;
  if (headers["content-type"]?.startsWith("multipart/") === true) throw invalid("Send JSON, not a form.");
  throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(headers["content-type"]);
}

function addRoute(app: FastifyInstance, context: HttpContext, route: Route): void {
  app.route({
    method: route.method,
    url: route.path,
    exposeHeadRoute: false,
    bodyLimit: route.multipart === true ? UPLOAD_BYTES_MAX : BODY_BYTES_MAX,
    schema: {
      ...(route.body === null ? {} : { body: route.body }),
      ...(route.query === null ? {} : { querystring: route.query }),
    },
    async onRequest(request) {
      request.principal = await admit(context, route, request);
    },
    async preValidation(request) {
      if (Buffer.isBuffer(request.body)) requireFormRoute(route, request);
      if (route.body !== null && request.body === undefined) request.body = {};
    },
    async preHandler(request) {
      if (isPersonal(route)) request.body = withoutSecrets(request.body, context.withoutOwnSecrets);
    },
    handler: (request, reply) => handle(route, request, reply),
  });
}

/** Where people write; credentials are brought to the other routes, and those are what they are. */
function isPersonal({ scope, multipart }: Route): boolean {
  return (scope === "write" || scope === "approve") && multipart !== true;
}

/** A body that has passed its schema, with each of its texts cleaned. */
function withoutSecrets(value: unknown, clean: (text: string) => string, depth = 0): unknown {
  if (depth > BODY_DEPTH_MAX) throw invalid(`The body is nested deeper than ${BODY_DEPTH_MAX} levels.`);
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, clean, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutSecrets(item, clean, depth + 1)]));
}

async function handle(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { principal, params, body, query } = request;
  if (principal === null) throw new Error("The guard has not seen this request.");
  const named = params as Record<string, string>;
  const answer = await route.handle({ request, reply, principal, params: named, body, query });
  if (reply.sent) return reply;
  if (route.status !== undefined) reply.code(route.status);
  return answer;
}
