import type { FastifyInstance, FastifyReply } from "fastify";
import { readFile } from "node:fs/promises";
import { SSE_HEADERS, SSE_HEARTBEAT, SSE_HEARTBEAT_INTERVAL_MS, encodeSseFrame } from "../../src/lib/sse.ts";
import { isOwnPage } from "./host.ts";
import type { World } from "./model.ts";
import { actAs } from "./page_actions.ts";
import { channelView, stateView } from "./page_views.ts";
import { NotPossible } from "./people/find.ts";

/** Files of the page and their types; nothing else is served. */
const FILES: ReadonlyMap<string, string> = new Map([
  ["index.html", "text/html; charset=utf-8"],
  ...["style", "controls", "message", "cards"].map((name) => [`${name}.css`, "text/css; charset=utf-8"] as const),
  ["icon.svg", "image/svg+xml"],
  ...["app", "api", "dom", "markdown", "message", "components", "modal", "composer", "command", "sidebar"].map(
    (name) => [`${name}.js`, "text/javascript; charset=utf-8"] as const,
  ),
]);

const SECURITY_HEADERS = {
  "content-security-policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/** Bytes of one action: ten files of ten megabytes would not fit on the real service either. */
const ACTION_BYTES_MAX = 36 * 1024 * 1024;

/** Bytes that may wait for a page that does not read before it is cut off; it comes back and reads everything anew. */
const WAITING_BYTES_MAX = 1024 * 1024;

type Query = { as?: string };

/** Serves the page for people and what it asks for. */
export function servePage(app: FastifyInstance, world: World): void {
  app.register(async (page) => {
    page.addHook("onRequest", async (request, reply) => {
      if (!isOwnPage(request.headers)) return reply.code(403).send({ error: "Open this page under its own address." });
      return undefined;
    });
    page.setErrorHandler((error, _request, reply) => {
      if (error instanceof NotPossible) return reply.code(400).send({ error: error.message });
      process.emitWarning(`The practice page failed: ${String(error)}`);
      return reply.code(500).send({ error: "That did not work. The log of the server says more." });
    });
    page.get("/", (_request, reply) => sendFile(reply, "index.html"));
    page.get<{ Params: { file: string } }>("/page/:file", (request, reply) => sendFile(reply, request.params.file));
    page.get<{ Querystring: Query }>("/page/api/state", (request, reply) =>
      reply.send(stateView(world, request.query.as ?? null)),
    );
    page.get<{ Querystring: Query; Params: { id: string } }>("/page/api/channels/:id", (request, reply) =>
      reply.send(channelView(world, request.params.id, request.query.as ?? "")),
    );
    page.post("/page/api/act", { bodyLimit: ACTION_BYTES_MAX }, (request) => actAs(world, request.body));
    page.get("/page/api/events", (request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, SSE_HEADERS);
      request.raw.on("close", streamChanges(world, reply));
    });
  });
}

async function sendFile(reply: FastifyReply, name: string): Promise<FastifyReply> {
  const type = FILES.get(name);
  if (type === undefined) return reply.code(404).send({ error: "There is no such page." });
  const bytes = await readFile(new URL(`./page/${name}`, import.meta.url));
  return reply.headers({ ...SECURITY_HEADERS, "content-type": type }).send(bytes);
}

/** Tells a page which channels changed, once per turn of the event loop. Returns the function that ends it. */
function streamChanges(world: World, reply: FastifyReply): () => void {
  const changed = new Set<string>();
  let armed = false;
  const write = (bytes: Buffer): void => {
    if (reply.raw.writableLength > WAITING_BYTES_MAX) reply.raw.destroy();
    else reply.raw.write(bytes);
  };
  const flush = (): void => {
    armed = false;
    write(encodeSseFrame(JSON.stringify({ changed: [...changed] }), null));
    changed.clear();
  };
  const leave = world.changes.subscribe((change) => {
    if (change.kind === "request" || change.kind === "session") return;
    changed.add("channel_id" in change ? change.channel_id : change.kind);
    if (armed) return;
    armed = true;
    setImmediate(flush);
  });
  const heartbeat = setInterval(() => write(SSE_HEARTBEAT), SSE_HEARTBEAT_INTERVAL_MS);
  write(SSE_HEARTBEAT);
  return () => {
    leave();
    clearInterval(heartbeat);
  };
}
