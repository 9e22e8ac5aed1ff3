import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { AddressInfo } from "node:net";
import type { ServerResponse } from "node:http";
import { encodeSseFrame } from "../../src/lib/sse.ts";
import type { ChannelFrame, ChannelRoute, MarksBody, PostedMessage } from "../../src/protocol/channel.ts";
import { KEPT_EVENT_TYPES, type Event } from "../../src/protocol/event.ts";
import { PATHS } from "../../src/protocol/paths.ts";

/** What a gateway sent to the agent. */
export interface SentMessage {
  ws_id: string;
  actor: string;
  message: string;
  client_send_id: string;
}

/** Refuses a request before its route sees it. */
export type Refusal = (request: FastifyRequest) => { status: number; body: Record<string, unknown> } | null;

/**
 * The server's routes for gateways over plain maps, its agent played by the test: it sees what was sent and emits
 * events.
 * Events of a workstream are kept and replayed after a route's cursor, as the real one does.
 */
export interface ScriptedServer {
  url: string;
  links: Map<string, { user_id: string; scopes: string }>;
  routes: Map<string, ChannelRoute>;
  posted: PostedMessage[];
  /** Up to where channels were heard. */
  marks: Map<string, string>;
  sent: SentMessage[];
  /** Other requests of note, as `METHOD /path` with their bodies. */
  calls: { name: string; actor: string; body: unknown }[];
  services: Map<string, { url: string }>;
  /** The files of every workstream's folder, by path. */
  files: Map<string, string>;
  refuse: Refusal;
  /** Keeps or broadcasts an event; answers its `seq`. */
  emit(ws_id: string, event: Event, extra?: Partial<ChannelFrame>): number;
  /** Cuts every channel stream, as a restart does. */
  dropStreams(): void;
  streams(): number;
  close(): Promise<void>;
}

interface State {
  journal: Map<string, ChannelFrame[]>;
  streams: Set<ServerResponse>;
  workstreams: Map<string, { owner: string; closed: boolean }>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const app = Fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 300 } });
  const state: State = { journal: new Map(), streams: new Set(), workstreams: new Map() };
  const server: ScriptedServer = {
    url: "",
    links: new Map(),
    routes: new Map(),
    posted: [],
    marks: new Map(),
    sent: [],
    calls: [],
    services: new Map(),
    files: new Map(),
    refuse: () => null,
    emit: (ws_id, event, extra) => emit(server, state, ws_id, event, extra),
    dropStreams() {
      for (const stream of state.streams) stream.destroy();
    },
    streams: () => state.streams.size,
    close: () => app.close(),
  };
  app.addHook("onRequest", async (request, reply) => {
    if (request.headers.authorization === undefined) return reply.code(401).send({ error: "No." });
    const refusal = server.refuse(request);
    return refusal === null ? undefined : reply.code(refusal.status).send(refusal.body);
  });
  app.addContentTypeParser("multipart/form-data", { parseAs: "string" }, (_request, body, done) => done(null, body));
  addStream(app, server, state);
  addPlaces(app, server);
  addWorkstreams(app, server, state);
  app.setNotFoundHandler((request, reply) => record(server, request, reply));
  await app.listen({ host: "127.0.0.1", port: 0 });
  server.url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return server;
}

type App = FastifyInstance;
type Named = Record<string, string>;

function emit(
  server: ScriptedServer,
  state: State,
  ws_id: string,
  event: Event,
  extra: Partial<ChannelFrame> = {},
): number {
  const entries = state.journal.get(ws_id) ?? [];
  const kept = Object.hasOwn(KEPT_EVENT_TYPES, event.type) && extra.child_ws_id === undefined;
  const seq = entries.length + 1;
  const at = new Date().toISOString();
  const frame: ChannelFrame = { ws_id, channel_id: "", ...(kept ? { seq, at } : {}), ...extra, event };
  if (kept) state.journal.set(ws_id, [...entries, frame]);
  for (const route of server.routes.values()) {
    if (route.ws_id !== ws_id) continue;
    for (const stream of state.streams) {
      stream.write(encodeSseFrame(JSON.stringify({ ...frame, channel_id: route.channel_id }), null));
    }
  }
  return seq;
}

function addStream(app: App, server: ScriptedServer, state: State): void {
  app.get(PATHS.channel_events, (_request, reply) => {
    reply.hijack();
    const stream = reply.raw;
    stream.writeHead(200, { "content-type": "text/event-stream" });
    const write = (value: unknown): void => void stream.write(encodeSseFrame(JSON.stringify(value), null));
    write({ control: "hello", node_id: "scripted" });
    for (const route of server.routes.values()) {
      for (const frame of state.journal.get(route.ws_id) ?? []) {
        if ((frame.seq ?? 0) > route.cursor_seq) write({ ...frame, channel_id: route.channel_id });
      }
    }
    write({ control: "caught_up" });
    state.streams.add(stream);
    stream.on("close", () => state.streams.delete(stream));
  });
}

function addPlaces(app: App, server: ScriptedServer): void {
  const nothing = { error: "Nothing is here." };
  app.get(PATHS.channel_link_of, (request, reply) => {
    const { channel_user_id = "" } = request.params as Named;
    const link = server.links.get(channel_user_id);
    return link === undefined
      ? reply.code(404).send(nothing)
      : { ...link, channel_user_id, username: link.user_id, display_name: link.user_id };
  });
  app.post(PATHS.channel_link, (request, reply) => {
    const { channel_user_id = "", token = "" } = request.body as Named;
    if (token !== "ts_good") return reply.code(400).send({ error: "This token is not valid. Ask for a new one." });
    server.links.set(channel_user_id, { user_id: channel_user_id, scopes: "approve" });
    return { user_id: channel_user_id, username: "ada", display_name: "Ada" };
  });
  app.get(PATHS.channel_links_of_user, (request) => {
    const { username } = request.params as Named;
    const links = [...server.links].filter(([, link]) => link.user_id === username);
    return { links: links.map(([channel_user_id]) => ({ channel_type: "discord", channel_user_id })) };
  });
  addRoutes(app, server);
}

function addRoutes(app: App, server: ScriptedServer): void {
  const nothing = { error: "Nothing is here." };
  app.get(PATHS.channel_routes, () => ({ routes: [...server.routes.values()] }));
  app.post(PATHS.channel_routes, (request) => {
    const body = request.body as ChannelRoute;
    const before = server.routes.get(body.channel_id);
    if (before !== undefined) return before;
    const made = {
      ...body,
      channel_type: "discord",
      cursor_seq: body.cursor_seq ?? 0,
      created: new Date().toISOString(),
    };
    server.routes.set(body.channel_id, made);
    return made;
  });
  app.get(
    PATHS.channel_route,
    (request, reply) =>
      server.routes.get((request.params as Named)["channel_id"] ?? "") ?? reply.code(404).send(nothing),
  );
  app.delete(PATHS.channel_route, (request) => ({
    status: server.routes.delete((request.params as Named)["channel_id"] ?? ""),
  }));
  app.post(PATHS.channel_cursor, (request, reply) => {
    const route = server.routes.get((request.params as Named)["channel_id"] ?? "");
    if (route === undefined) return reply.code(404).send(nothing);
    return Object.assign(route, request.body);
  });
  app.get(PATHS.channel_marks, () => ({
    marks: [...server.marks].map(([channel_id, heard_id]) => ({ channel_id, heard_id })),
  }));
  app.post(PATHS.channel_marks, (request) => {
    for (const mark of (request.body as MarksBody).marks) server.marks.set(mark.channel_id, mark.heard_id);
    return { status: "ok" };
  });
  app.post(PATHS.channel_posted, (request) => {
    const body = request.body as PostedMessage;
    server.posted = server.posted.filter(
      (row) => row.channel_id !== body.channel_id || row.shows !== body.shows || row.part !== body.part,
    );
    server.posted.push({ ...body, channel_type: "discord", created: "" });
    return { status: "ok" };
  });
  app.get(PATHS.channel_posted, (request) => {
    const { ws_id, shows, channel_id } = request.query as Named;
    const newest = server.posted.filter((row) => row.channel_id === channel_id).slice(-1);
    const showing = server.posted.filter((row) => row.ws_id === ws_id && row.shows === shows);
    return { posted: channel_id === undefined ? showing : newest };
  });
  app.get(PATHS.channel_posted_message, (request, reply) => {
    const { message_id } = request.params as Named;
    return server.posted.find((row) => row.message_id === message_id) ?? reply.code(404).send(nothing);
  });
  app.post(PATHS.services, (request) => {
    const { service_id = "", url = "" } = request.body as Named;
    server.services.set(service_id, { url });
    return { status: "ok" };
  });
  app.delete(PATHS.service, (request) => ({
    status: server.services.delete((request.params as Named)["service_id"] ?? ""),
  }));
}

function addWorkstreams(app: App, server: ScriptedServer, state: State): void {
  app.post(PATHS.workstreams_new, (request, reply) => {
    const { ws_id = "", name = "" } = request.body as Named;
    if (state.workstreams.has(ws_id)) return reply.code(409).send({ error: "This workstream exists." });
    state.workstreams.set(ws_id, { owner: actorOf(request), closed: false });
    return { ws_id, name, resumed: false, message_count: 0 };
  });
  app.post(PATHS.send, (request, reply) => {
    const { ws_id = "" } = request.params as Named;
    const { message = "", client_send_id = "" } = request.body as Named;
    const actor = actorOf(request);
    if (!server.links.has(actor)) return reply.code(401).send({ error: "This person is not linked." });
    if (state.workstreams.get(ws_id)?.owner !== actor) return reply.code(404).send({ error: "Unknown workstream" });
    const answer = { status: "ok", msg_id: `m${client_send_id}` };
    if (server.sent.some((one) => one.ws_id === ws_id && one.client_send_id === client_send_id)) return answer;
    server.sent.push({ ws_id, actor, message, client_send_id });
    return answer;
  });
  app.get(PATHS.channel_owner, (request) => {
    const route = server.routes.get((request.params as Named)["channel_id"] ?? "");
    return { channel_user_id: state.workstreams.get(route?.ws_id ?? "")?.owner ?? null };
  });
  app.get(PATHS.history, (request) => {
    const { ws_id = "" } = request.params as Named;
    const messages = server.sent.filter((one) => one.ws_id === ws_id).map(({ message: content }) => ({ content }));
    return { ws_id, messages, cursor: 0, handoff_token: "" };
  });
  app.get(PATHS.models, () => ({
    models: [
      { alias: "default", model: "small", is_default: true },
      { alias: "clever", model: "large", is_default: false },
    ],
  }));
  app.get(PATHS.workspace_file, (request, reply) => {
    const text = server.files.get((request.query as Named)["path"] ?? "");
    if (text === undefined) return reply.code(404).send({ error: "There is no such file." });
    return reply.type("application/octet-stream").send(Buffer.from(text));
  });
  app.post(PATHS.attachments, (request) => {
    server.calls.push({ name: "upload", actor: actorOf(request), body: request.body });
    return { attachment_id: `a${server.calls.length}`, filename: "f", media_type: "text/plain", size: 1 };
  });
}

/** Everything else is written down and answered with success. */
function record(server: ScriptedServer, request: FastifyRequest, reply: FastifyReply): unknown {
  const path = request.url.split("?")[0]?.replace(/[0-9a-f]{32}/, "WS") ?? "";
  server.calls.push({ name: `${request.method} ${path}`, actor: actorOf(request), body: request.body });
  return reply.code(200).send({ status: "ok", dropped: 0, output: "", memories: [], grants: [], workstreams: [] });
}

function actorOf(request: FastifyRequest): string {
  return String(request.headers["x-turnstone-actor"] ?? "").replace("discord:", "");
}
