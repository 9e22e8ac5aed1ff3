import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { HealthAnswer } from "../../protocol/answers.ts";
import { PATHS } from "../../protocol/paths.ts";
import { WORKSTREAM_STATES } from "../../protocol/workstream.ts";
import type { HttpContext } from "../context.ts";
import { notFound } from "../failures.ts";
import { labels, metric } from "../metrics.ts";
import { openRoute, type Route } from "../route.ts";

/** Prometheus' text exposition format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const CIRCUIT_NUMBERS = { closed: 0, open: 1, half_open: 2 } as const;

/** What the documentation page is made of, and nothing else of the folder it lies in. */
const DOCS_ASSETS: ReadonlyMap<string, string> = new Map([
  ["swagger-ui.css", "text/css; charset=utf-8"],
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["favicon-32x32.png", "image/png"],
]);

const DOCS_START = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#page", deepLinking: true });\n`;

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>turnstone API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css"><link rel="icon" href="/docs/favicon-32x32.png"></head>
<body><div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script></body>
</html>
`;

const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export function systemRoutes(context: HttpContext): Route[] {
  return [healthRoute(context), metricsRoute(context), ...documentRoutes(context)];
}

function healthRoute({ store, engine, clock, options, started, mcpServers }: HttpContext): Route {
  return openRoute({
    method: "GET",
    path: PATHS.health,
    summary: "Whether the server works",
    scope: "public",
    unlimited: true,
    answer: HealthAnswer,
    async handle(): Promise<HealthAnswer> {
      const backend = engine.backend();
      const counts = await store.workstreams.count();
      const total = WORKSTREAM_STATES.reduce((sum, state) => sum + counts[state], 0);
      return {
        status: backend.status === "up" && !store.isDamaged() ? "ok" : "degraded",
        store: store.isDamaged() ? "damaged" : "up",
        version: options.version,
        node_id: options.node_id,
        uptime_seconds: Math.round((clock.now() - started) / 10) / 100,
        workstreams: { total, ...counts },
        backend,
        mcp_servers: mcpServers(),
      };
    },
  });
}

function metricsRoute({ store, engine, clock, options, started, hub, metrics }: HttpContext): Route {
  return openRoute({
    method: "GET",
    path: PATHS.metrics,
    summary: "Figures for Prometheus",
    scope: "loopback_or_read",
    answer: null,
    media_type: METRICS_TYPE,
    async handle({ reply }) {
      const backend = engine.backend();
      const counts = await store.workstreams.count();
      const lines = [
        "# TYPE turnstone_build_info gauge",
        `turnstone_build_info${labels({ version: options.version, node_id: options.node_id })} 1`,
        ...metric("turnstone_uptime_seconds", "gauge", (clock.now() - started) / 1000),
        "# TYPE turnstone_workstreams_by_state gauge",
        ...WORKSTREAM_STATES.map((state) => `turnstone_workstreams_by_state${labels({ state })} ${counts[state]}`),
        ...metric("turnstone_sse_connections_active", "gauge", hub.size),
        ...metric("turnstone_store_damaged", "gauge", store.isDamaged() ? 1 : 0),
        ...metric("turnstone_backend_up", "gauge", backend.status === "up" ? 1 : 0),
        ...metric("turnstone_circuit_state", "gauge", CIRCUIT_NUMBERS[backend.circuit_state]),
        ...metrics.lines(),
      ];
      reply.header("content-type", METRICS_TYPE);
      return `${lines.join("\n")}\n`;
    },
  });
}

function documentRoutes({ routes, options }: HttpContext): Route[] {
  return [
    openRoute({
      method: "GET",
      path: PATHS.openapi,
      summary: "This document",
      scope: "public",
      answer: null,
      media_type: "application/json",
      async handle() {
        const { openApiDocument } = await import("../openapi.ts");
        return openApiDocument(routes, options.version);
      },
    }),
    openRoute({
      method: "GET",
      path: PATHS.root,
      summary: "Leads whoever opens the server's address to its documentation",
      scope: "public",
      answer: null,
      media_type: "text/html",
      status: 302,
      handle({ reply }) {
        reply.headers({ "content-type": "text/html; charset=utf-8", location: PATHS.docs });
        return `<a href="${PATHS.docs}">The documentation of this server</a>\n`;
      },
    }),
    openRoute({
      method: "GET",
      path: PATHS.docs,
      summary: "This document as a page",
      scope: "public",
      answer: null,
      media_type: "text/html",
      handle({ reply }) {
        reply.headers({ "content-type": "text/html; charset=utf-8", "content-security-policy": DOCS_POLICY });
        return DOCS_PAGE;
      },
    }),
    openRoute({
      method: "GET",
      path: PATHS.docs_asset,
      summary: "Parts of the page",
      scope: "public",
      answer: null,
      media_type: "text/javascript",
      async handle({ params, reply }) {
        const asset = params["asset"] ?? "";
        reply.header("cache-control", "public, max-age=3600");
        if (asset === "start.js") {
          reply.header("content-type", "text/javascript; charset=utf-8");
          return DOCS_START;
        }
        const type = DOCS_ASSETS.get(asset);
        if (type === undefined) throw notFound("There is nothing at this address.");
        const folder = dirname(createRequire(import.meta.url).resolve("@fastify/swagger-ui/package.json"));
        reply.header("content-type", type);
        return readFile(join(folder, "static", asset));
      },
    }),
  ];
}
