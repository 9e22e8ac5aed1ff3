import type { Server } from "node:http";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import type { BotEvent, World } from "../model.ts";
import { forgetOldest } from "../world.ts";
import { guildCreatePayload, hidePrivate, membersChunk, readyPayload } from "./payloads.ts";
import { OPCODE, canResume, createSession, dispatch, replay, send } from "./session.ts";
import type { Session } from "./session.ts";
import { textOf } from "../json.ts";

/** Where the gateway listens on the server. */
export const GATEWAY_PATH = "/gateway";

/** Bytes of one payload from the bot. */
const PAYLOAD_BYTES_MAX = 4096;

/** Payloads from the bot per minute and connection. */
const SENDS_MAX = 120;
const SENDS_WINDOW_MS = 60_000;

/** Sessions that can be resumed: a bot has one, and a few may be left from starts before. */
const SESSIONS_MAX = 20;

/** Every intent that exists, to tell a wrong number from a refused one. */
const KNOWN_INTENTS = 2 ** 26 - 1;

export interface GatewayOptions {
  world: World;
  heartbeat_interval_ms: number;
  /** Where a resume connects; known once the server listens. */
  gatewayUrl(): string;
}

/** Switches and facts of the gateway. */
export interface Gateway {
  /** Sessions that a bot is connected to. */
  connectedCount(): number;
  /** Identifies and resumes since the start. */
  readonly identified: number;
  readonly resumed: number;
  /** Cuts the connections without a word. */
  drop(): void;
  closeWith(code: number): void;
  /** Opcode 7. */
  askToReconnect(): void;
  /** Opcode 9; `resumable` false also ends the sessions. */
  invalidate(resumable: boolean): void;
  /** Forgets all sessions, so that the next resume is refused. */
  forgetSessions(): void;
  /** Withholds heartbeat acknowledgements. */
  zombie: boolean;
  /** Intents that are switched off for this bot: identifying with one closes with 4014. */
  disallowed_intents: number;
  /** Refuses new connections while true. */
  down: boolean;
  close(): Promise<void>;
}

interface Connection {
  socket: WebSocket;
  session: Session | null;
  sends: number[];
  heartbeat: NodeJS.Timeout;
}

interface State extends Omit<Gateway, "identified" | "resumed"> {
  identified: number;
  resumed: number;
}

/** Attaches the gateway to an HTTP server. */
export function serveGateway(server: Server, options: GatewayOptions): Gateway {
  const { world } = options;
  const sessions = new Map<string, Session>();
  const connections = new Set<Connection>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: PAYLOAD_BYTES_MAX });
  const state = createState(world, sessions, connections, sockets);
  server.on("upgrade", (request, socket, head) => {
    if (state.down || !(request.url ?? "").startsWith(GATEWAY_PATH)) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const version = new URL(request.url ?? "/", "http://localhost").searchParams.get("v");
      if (version !== null && version !== "10") return opened.close(4012, "Invalid API version");
      accept({ state, options, sessions, connections }, opened);
    });
  });
  const leave = world.events.subscribe((event) => {
    for (const session of sessions.values()) deliver(world, session, event);
  });
  return Object.assign(state, {
    close: async () => {
      leave();
      for (const connection of connections) {
        clearTimeout(connection.heartbeat);
        connection.socket.terminate();
      }
      await new Promise((resolve) => sockets.close(resolve));
    },
  });
}

function createState(
  world: World,
  sessions: Map<string, Session>,
  connections: Set<Connection>,
  sockets: WebSocketServer,
): State {
  const each = (act: (connection: Connection) => void): void => {
    for (const connection of connections) act(connection);
  };
  return {
    connectedCount: () => [...sessions.values()].filter((session) => session.socket !== null).length,
    identified: 0,
    resumed: 0,
    drop: () => each(({ socket }) => socket.terminate()),
    closeWith: (code) => each(({ socket }) => socket.close(code)),
    askToReconnect: () => each(({ socket }) => send(socket, OPCODE.reconnect, null)),
    invalidate(resumable) {
      each(({ socket, session }) => {
        if (!resumable && session !== null) sessions.delete(session.id);
        send(socket, OPCODE.invalid_session, resumable);
      });
      world.changes.emit({ kind: "session" });
    },
    forgetSessions: () => sessions.clear(),
    zombie: false,
    disallowed_intents: 0,
    down: false,
    close: () => new Promise((resolve) => sockets.close(() => resolve())),
  };
}

interface Context {
  state: State;
  options: GatewayOptions;
  sessions: Map<string, Session>;
  connections: Set<Connection>;
}

function accept(context: Context, socket: WebSocket): void {
  const { connections, options, sessions } = context;
  const connection: Connection = { socket, session: null, sends: [], heartbeat: armHeartbeat(context, socket) };
  connections.add(connection);
  socket.on("error", () => socket.terminate());
  socket.on("message", (data: Buffer) => receive(context, connection, data.toString()));
  socket.on("close", (code) => {
    connections.delete(connection);
    clearTimeout(connection.heartbeat);
    const session = connection.session;
    if (session?.socket === socket) session.socket = null;
    // A clean close by the bot ends its session; anything else leaves it to be resumed.
    if (session !== null && (code === 1000 || code === 1001)) sessions.delete(session.id);
    options.world.changes.emit({ kind: "session" });
  });
  send(socket, OPCODE.hello, { heartbeat_interval: options.heartbeat_interval_ms, _trace: [] });
}

// Discord closes with 4009 when two heartbeats in a row are missing.
function armHeartbeat(context: Context, socket: WebSocket): NodeJS.Timeout {
  const timer = setTimeout(() => socket.close(4009, "Session timed out"), context.options.heartbeat_interval_ms * 2.5);
  timer.unref();
  return timer;
}

function receive(context: Context, connection: Connection, text: string): void {
  const { socket } = connection;
  const now = Date.now();
  connection.sends = [...connection.sends.filter((at) => at > now - SENDS_WINDOW_MS), now];
  if (connection.sends.length > SENDS_MAX) return socket.close(4008, "Rate limited");
  const payload = parse(text);
  if (payload === null) return socket.close(4002, "Decode error");
  const data = isJsonObject(payload["d"]) ? payload["d"] : {};
  switch (payload["op"]) {
    case OPCODE.heartbeat:
      clearTimeout(connection.heartbeat);
      connection.heartbeat = armHeartbeat(context, socket);
      if (!context.state.zombie) send(socket, OPCODE.heartbeat_ack, null);
      return;
    case OPCODE.identify:
      return identify(context, connection, data);
    case OPCODE.resume:
      return resume(context, connection, data);
    case OPCODE.presence:
    case OPCODE.voice:
    case OPCODE.request_members:
      if (connection.session === null) return socket.close(4003, "Not authenticated");
      if (payload["op"] === OPCODE.request_members) {
        dispatch(connection.session, "GUILD_MEMBERS_CHUNK", membersChunk(context.options.world, data));
      }
      return;
    default:
      socket.close(4001, "Unknown opcode");
  }
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function identify(context: Context, connection: Connection, data: JsonObject): void {
  const { options, sessions, state } = context;
  const { socket } = connection;
  const intents = data["intents"];
  if (connection.session !== null) return socket.close(4005, "Already authenticated");
  if (data["token"] !== options.world.bot_token) return socket.close(4004, "Authentication failed");
  if (typeof intents !== "number" || intents < 0 || intents > KNOWN_INTENTS) {
    return socket.close(4013, "Invalid intents");
  }
  if ((intents & state.disallowed_intents) !== 0) return socket.close(4014, "Disallowed intents");
  const session = createSession(intents, socket);
  sessions.set(session.id, session);
  forgetOldest(sessions, SESSIONS_MAX);
  connection.session = session;
  state.identified += 1;
  dispatch(session, "READY", readyPayload(options.world, session.id, options.gatewayUrl()));
  for (const guild of options.world.guilds.values()) {
    dispatch(session, "GUILD_CREATE", guildCreatePayload(options.world, guild));
  }
  options.world.changes.emit({ kind: "session" });
}

function resume(context: Context, connection: Connection, data: JsonObject): void {
  const { options, sessions, state } = context;
  const { socket } = connection;
  if (data["token"] !== options.world.bot_token) return socket.close(4004, "Authentication failed");
  const session = sessions.get(textOf(data["session_id"]));
  const seq = data["seq"];
  if (typeof seq !== "number") return socket.close(4007, "Invalid seq");
  if (session === undefined) return send(socket, OPCODE.invalid_session, false);
  if (!canResume(session, seq)) {
    sessions.delete(session.id);
    return socket.close(4007, "Invalid seq");
  }
  session.socket?.terminate();
  session.socket = socket;
  connection.session = session;
  state.resumed += 1;
  replay(session, seq);
  dispatch(session, "RESUMED", { _trace: [] });
  options.world.changes.emit({ kind: "session" });
}

function deliver(world: World, session: Session, event: BotEvent): void {
  if (event.intent !== null && (session.intents & event.intent) === 0) return;
  const data = event.private_message === null ? event.data : hidePrivate(world, session.intents, event);
  dispatch(session, event.name, data);
}
