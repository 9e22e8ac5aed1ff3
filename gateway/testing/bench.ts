import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import type { Event } from "../../src/protocol/event.ts";
import { loadDiscordSchema } from "../../test/support/discord_schema.ts";
import type { GatewaySettings } from "../config.ts";
import { runGateway, type RunningGateway } from "../main.ts";
import { startPractice, type Message, type PracticeDiscord, type PracticeOptions } from "../practice/index.ts";
import { startScriptedServer, type ScriptedServer, type SentMessage } from "./scripted_server.ts";

/** Once per test file, since it is large and compiles each route's part on first use. */
const schema = loadDiscordSchema();

export const JWT_SECRET = "a secret of the tests, long enough for HS256";

/**
 * A gateway between the practice Discord and a server that the test plays. At its end every request that it made is
 * held against Discord's own description, where that is at hand.
 */
export interface Bench extends AsyncDisposable {
  practice: PracticeDiscord;
  server: ScriptedServer;
  gateway: RunningGateway;
  settings: GatewaySettings;
  /** Links a person of the practice Discord to an account. */
  link(person: string): void;
  /** A person mentions the bot; answers what the agent got. */
  begin(person: string, text: string): Promise<SentMessage & { thread: string }>;
  /** Waits for the n-th message that the agent gets. */
  sent(count: number): Promise<SentMessage>;
  /** Waits until a channel shows a text; answers the message with it. */
  sees(channel: string, text: string | RegExp): Promise<Message>;
  /** Plays a turn: the message, what comes between, and the end. */
  turn(message: SentMessage, events: readonly Event[]): void;
  restart(): Promise<void>;
}

export async function startBench(
  options: {
    practice?: PracticeOptions;
    discord?: Partial<GatewaySettings["discord"]>;
    clock?: Clock;
    /** Intents, as bits, that are switched off for the bot. */
    disallowed_intents?: number;
  } = {},
): Promise<Bench> {
  const practice = await startPractice(options.practice);
  practice.faults.disallowIntents(options.disallowed_intents ?? 0);
  const server = await startScriptedServer();
  const settings: GatewaySettings = {
    server_url: server.url,
    jwt_secret: JWT_SECRET,
    discord: {
      token: practice.bot_token,
      api: practice.api_url,
      guild: null,
      channels: [],
      roles: {},
      edit_interval_ms: 20,
      thread_auto_archive_minutes: 1440,
      ...options.discord,
    },
    channel: { host: "127.0.0.1", port: 0, advertise_url: null },
    log: { level: "error", format: "text" },
  };
  const start = async (): Promise<RunningGateway> => {
    const started = await runGateway(settings, { log: silentLog, clock: options.clock ?? systemClock });
    if (!started.ok) throw new Error(started.error);
    await until(() => server.streams() > 0);
    return started.gateway;
  };
  const bench: Bench = {
    practice,
    server,
    settings,
    gateway: await start(),
    link: (person) =>
      void server.links.set(practice.userId(person), { user_id: person.toLowerCase(), scopes: "approve" }),
    async begin(person, text) {
      const count = server.sent.length;
      const message = practice.as(person).say("general", `<@${practice.bot_id}> ${text}`);
      return { ...(await bench.sent(count + 1)), thread: message.id };
    },
    sent: (count) => until(() => server.sent[count - 1]),
    sees: (channel, text) =>
      practice.waitFor(() =>
        practice.messages(channel).find((message) => matches(practice.messageAsText(message), text)),
      ),
    turn(message, events) {
      server.emit(message.ws_id, userTurn(message));
      for (const event of events) server.emit(message.ws_id, event);
      server.emit(message.ws_id, { type: "turn_ended", outcome: "done" });
    },
    async restart() {
      await bench.gateway.stop();
      bench.gateway = await start();
    },
    async [Symbol.asyncDispose]() {
      await bench.gateway.stop();
      await server.close();
      await practice.close();
      const faults = schema?.checkRequests(practice.requests) ?? [];
      if (faults.length > 0) throw new Error(`Discord's description does not allow:\n${faults.join("\n")}`);
    },
  };
  return bench;
}

/** The entry that a message becomes. */
export function userTurn(message: SentMessage): Event {
  return {
    type: "user_turn",
    content: message.message,
    source: "discord",
    client_send_ids: [message.client_send_id],
    sender: { user_id: "u", name: "Ada", channel_type: "discord", channel_user_id: message.actor },
  };
}

/** An answer of the model. */
export function assistant(content: string, model_call_id = "1.1"): Event {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return { type: "assistant", content, tool_calls: [], usage, stop_reason: "stop", model_call_id, model_alias: "test" };
}

/** Asks again and again until there is an answer; the scripted server tells nobody of changes. */
export async function until<Value>(ask: () => Value | undefined | null | false, timeout_ms = 8000): Promise<Value> {
  const end = Date.now() + timeout_ms;
  for (;;) {
    const value = ask();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > end) throw new Error(`Nothing came of: ${String(ask)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function matches(shown: string, text: string | RegExp): boolean {
  return typeof text === "string" ? shown.includes(text) : text.test(shown);
}
