import { pathToFileURL } from "node:url";
import { systemClock, type Clock } from "../src/lib/clock.ts";
import { armCrashPoints, withCrashPoints } from "../src/lib/crash_point.ts";
import { createLog, type Log } from "../src/lib/log.ts";
import { createRedactor } from "../src/lib/redact.ts";
import { outliveReaders } from "../src/lib/output.ts";
import type { ChannelHandlers } from "./channel_adapter.ts";
import { readSettings, type GatewaySettings } from "./config.ts";
import { connectDiscord } from "./discord/connect.ts";
import type { Gateway } from "./gateway.ts";
import { createInbox } from "./inbound/inbox.ts";
import { commandDefinitions, handlePress, suggest } from "./interactions/index.ts";
import { startNotifyEndpoint } from "./notify/endpoint.ts";
import { startHeartbeat } from "./notify/heartbeat.ts";
import { createOutbox } from "./outbound/outbox.ts";
import { createPendingApprovals } from "./pending.ts";
import { createRecent } from "./recent.ts";
import { createRouteBook } from "./routes.ts";
import { createServerClient } from "./server_client.ts";
import { followChannelStream } from "./server_stream.ts";
import { createServiceToken } from "./server_token.ts";

/** A gateway at work. */
export interface RunningGateway {
  /** Where notifications are taken. */
  port: number;
  /** Resolves with a sentence when Discord will have us no more. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

const THREAD_NAMES_MAX = 2000;
/** What changes something at the server; the crash tests pull the plug around each. */
const SERVER_EFFECTS = [
  "createWorkstream",
  "createRoute",
  "send",
  "approve",
  "plan",
  "cancel",
  "savePosted",
  "moveCursor",
] as const;
/** What is on its way may still be said; then the process ends in any case. */
const STOP_TIMEOUT_MS = 5000;
/** Without the last marks the next start reads a little more. */
const SAVE_TIMEOUT_MS = 1000;

/** Starts a gateway. A refusal by Discord that no new attempt would change comes back as a sentence. */
export async function runGateway(
  settings: GatewaySettings,
  { log = consoleLog(settings), clock = systemClock }: { log?: Log; clock?: Clock } = {},
): Promise<{ ok: true; gateway: RunningGateway } | { ok: false; error: string }> {
  if (settings.jwt_secret === null) {
    return {
      ok: false,
      error:
        "There is no JWT secret. Set TURNSTONE_JWT_SECRET to the server's own, or TURNSTONE_DATA_DIR to its data directory.",
    };
  }
  const connection = await connectDiscord(settings.discord, { clock, log });
  if (!connection.ok) return connection;
  const stopping = new AbortController();
  const adapter = withCrashPoints("discord", connection.adapter, [
    "post",
    "edit",
    "remove",
    "openThread",
    "openDm",
    "renameThread",
  ]);
  const client = createServerClient({
    url: settings.server_url,
    channel_type: adapter.channel_type,
    token: createServiceToken(settings.jwt_secret, clock),
    signal: stopping.signal,
  });
  const server = withCrashPoints("server", client, SERVER_EFFECTS);
  const gateway: Gateway = {
    settings,
    log,
    clock,
    signal: stopping.signal,
    server,
    adapter,
    routes: createRouteBook(server, clock),
    pending: createPendingApprovals(),
    thread_names: createRecent(THREAD_NAMES_MAX),
  };
  const endpoint = await startNotifyEndpoint(gateway);
  const goodbye = startHeartbeat(gateway, endpoint.port);
  const { stream, idle, saveMarks } = startWork(gateway, connection.start);
  const stop = async (): Promise<void> => {
    await goodbye();
    await Promise.race([saveMarks(), after(SAVE_TIMEOUT_MS)]);
    stopping.abort(new Error("The gateway is stopping."));
    await endpoint.close();
    await Promise.race([Promise.all([stream, idle()]), after(STOP_TIMEOUT_MS)]);
    await adapter.close();
  };
  log.info("gateway.ready", { port: endpoint.port, sees_content: connection.sees_content });
  return { ok: true, gateway: { port: endpoint.port, ended: connection.ended, stop } };
}

/** Joins the two streams: what people do goes to the server, what the server says goes to people. */
function startWork(
  gateway: Gateway,
  start: (handlers: ChannelHandlers) => void,
): {
  stream: Promise<void>;
  idle: () => Promise<void>;
  saveMarks: () => Promise<void>;
} {
  const { log, server, clock, signal } = gateway;
  const outbox = createOutbox(gateway);
  const inbox = createInbox(gateway);
  const stream = followChannelStream(
    { server, clock, log, onFrame: (frame) => outbox.show(frame), onConnected: () => log.info("stream.connected") },
    signal,
  );
  start({
    onMessage: (message) => inbox.receive(message),
    onEdited: (message) => inbox.edited(message),
    onDeleted: (place) => {
      inbox.deleted(place.message_id);
      outbox.deleted(place);
    },
    onThreadDeleted: (channel_id) => outbox.threadDeleted(channel_id),
    onPress: (press) => void handlePress(gateway, press),
    onSuggest: (request) => suggest(gateway, request),
    onConnected: () => inbox.connected(),
    onInterrupted: () => inbox.interrupted(),
  });
  gateway.adapter
    .registerCommands(commandDefinitions())
    .catch((error: unknown) => log.error("commands.not_registered", { error: error as Error }));
  return { stream, idle: () => inbox.idle(), saveMarks: () => inbox.saveMarks() };
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

function consoleLog(settings: GatewaySettings): Log {
  const secrets = [settings.discord.token, settings.jwt_secret ?? ""];
  return createLog({
    ...settings.log,
    redact: createRedactor(secrets),
    write: (line) => process.stderr.write(line),
    now: () => Date.now(),
  });
}

/** The program: one clear line and exit code 1 when it cannot work, a clean stop on SIGTERM and SIGINT. */
async function main(): Promise<void> {
  outliveReaders();
  armCrashPoints(process.env["TURNSTONE_CRASH_POINTS"]);
  const read = readSettings(process.env);
  if (!read.ok) return fail(read.error);
  const log = consoleLog(read.settings);
  // Whatever nobody has caught is a mistake of ours; it is no reason to leave every conversation.
  process.on("unhandledRejection", (reason) =>
    log.error("rejection.unhandled", {
      error: reason instanceof Error ? reason : new Error(`A value of type ${typeof reason} was thrown.`),
    }),
  );
  process.on("uncaughtException", (error) => log.error("exception.uncaught", { error }));
  const started = await runGateway(read.settings, { log });
  if (!started.ok) return fail(started.error);
  const { gateway } = started;
  const leave = async (code: number): Promise<void> => {
    await gateway.stop().catch((error: unknown) => log.error("stop.failed", { error: error as Error }));
    process.exit(code);
  };
  process.once("SIGTERM", () => void leave(0));
  process.once("SIGINT", () => void leave(0));
  process.send?.({ type: "ready", port: gateway.port });
  process.stderr.write(`${await gateway.ended}\n`);
  await leave(1);
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main().catch((error: unknown) =>
    fail(`The gateway could not start: ${error instanceof Error ? error.message : String(error)}`),
  );
}
