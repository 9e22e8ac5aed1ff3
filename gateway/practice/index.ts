import Fastify from "fastify";
import type { FastifyInstance } from "fastify";
import type { AddressInfo } from "node:net";
import { createAdmin, roleId } from "./admin.ts";
import type { Admin } from "./admin.ts";
import { CDN_PREFIX, serveCdn } from "./cdn.ts";
import { createRouteFaults } from "./faults.ts";
import { createFaults } from "./faults_api.ts";
import type { Faults } from "./faults_api.ts";
import { isLoopback } from "./host.ts";
import { GATEWAY_PATH, serveGateway } from "./live/gateway.ts";
import type { Gateway } from "./live/gateway.ts";
import type { Channel, Message, RequestRecord, World } from "./model.ts";
import { servePage } from "./page_api.ts";
import { findChannel, findUser } from "./people/find.ts";
import type { Ref } from "./people/find.ts";
import { personOf } from "./people/person.ts";
import type { Person } from "./people/person.ts";
import { channelAsText, messageAsText } from "./people/text.ts";
import { createRateLimiter } from "./rest/rate_limits.ts";
import type { RateLimits } from "./rest/rate_limits.ts";
import { serveRest } from "./rest/server.ts";
import { DEFAULT_SEED, seedWorld } from "./seed.ts";
import type { PracticeSeed } from "./seed.ts";
import { waitForChange } from "./signal.ts";
import { directChannel } from "./threads.ts";
import { ACK_DEADLINE_MS, createWorld, historyOf, newSnowflake } from "./world.ts";

export type { Admin } from "./admin.ts";
export type { RouteFault, RouteMatch } from "./faults.ts";
export type { Faults } from "./faults_api.ts";
export type { Channel, Message, Modal, RequestRecord } from "./model.ts";
export { NotPossible } from "./people/find.ts";
export type { Ref } from "./people/find.ts";
export type { FieldValue, GivenFile } from "./people/forms.ts";
export type { Answer, OpenModal, Person, SayOptions } from "./people/person.ts";
export { modalAsText } from "./people/text.ts";
export { GENEROUS_RATE_LIMITS } from "./rest/rate_limits.ts";
export type { RateLimits } from "./rest/rate_limits.ts";
export { DEFAULT_SEED } from "./seed.ts";
export type { PracticeSeed } from "./seed.ts";

/** The token that the bot logs in with where none is chosen. Not a secret: the server listens on loopback only. */
export const PRACTICE_BOT_TOKEN = "practice.bot.token";

export interface PracticeOptions {
  /** 0 takes any free port. */
  port?: number;
  /** A loopback address; anything else is refused. */
  host?: string;
  bot_token?: string;
  seed?: PracticeSeed;
  rate_limits?: RateLimits;
  /** Milliseconds since the epoch; decides ids, times, token lifetimes, rate limits and links. */
  now?: () => number;
  /** How long the bot has for its first answer to an interaction; 3000 as on the real service. */
  ack_deadline_ms?: number;
  heartbeat_interval_ms?: number;
}

/** A running practice Discord. Everything is lost when it closes. */
export interface PracticeDiscord {
  /** The page for people. */
  readonly url: string;
  /** For discord.js as `rest.api`. */
  readonly api_url: string;
  readonly bot_token: string;
  readonly bot_id: string;
  readonly guild_id: string;
  /** The hands and eyes of a person, by id or name. */
  as(person: Ref): Person;
  admin: Admin;
  faults: Faults;
  gateway: Pick<Gateway, "connectedCount" | "identified" | "resumed">;
  /** Ids by name. Each throws for a name that is not there. */
  channelId(name: string): string;
  userId(name: string): string;
  roleId(name: string): string;
  /** A channel's history, oldest first, without ephemeral messages. */
  messages(channel: Ref): Message[];
  /** Threads of a channel, or all of them. */
  threads(channel?: Ref): Channel[];
  /** The direct messages between the bot and a person. */
  dm(person: Ref): Message[];
  channelAsText(channel: Ref): string;
  dmAsText(person: Ref): string;
  messageAsText(message: Message): string;
  /** Every request of the bot, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Requests for routes that nobody serves, such as `GET /guilds/1/bans`. */
  readonly unserved: readonly string[];
  /** Answers of 401, 403 and 429 within ten minutes: 10,000 shut the bot out. */
  invalidRequestCount(): number;
  /** Waits until the predicate answers something truthy; asked on every change. Rejects after `timeout_ms` (10 s). */
  waitFor<T>(predicate: () => T, options?: { timeout_ms?: number }): Promise<NonNullable<T>>;
  close(): Promise<void>;
}

const HEARTBEAT_INTERVAL_MS = 41_250;

/** Starts a practice Discord on this machine. Rejects for a host that others could reach. */
export async function startPractice(options: PracticeOptions = {}): Promise<PracticeDiscord> {
  const host = options.host ?? "127.0.0.1";
  if (!isLoopback(host)) {
    throw new Error(`The practice Discord has no passwords, so it listens on this machine only, not on ${host}.`);
  }
  const now = options.now ?? Date.now;
  const world = createWorld({
    now,
    bot_id: "",
    bot_token: options.bot_token ?? PRACTICE_BOT_TOKEN,
    ack_deadline_ms: options.ack_deadline_ms ?? ACK_DEADLINE_MS,
  });
  world.bot_id = newSnowflake(world);
  seedWorld(world, options.seed ?? DEFAULT_SEED);
  const app = Fastify({ routerOptions: { maxParamLength: 1000 }, forceCloseConnections: true });
  let base = "";
  const gatewayUrl = (): string => `${base.replace("http:", "ws:")}${GATEWAY_PATH}`;
  const limiter = createRateLimiter(options.rate_limits ?? {}, now);
  const routeFaults = createRouteFaults();
  const requests: RequestRecord[] = [];
  const unserved: string[] = [];
  await serveRest(app, { world, limiter, faults: routeFaults, requests, unserved, gatewayUrl });
  serveCdn(app, world);
  servePage(app, world);
  const gateway = serveGateway(app.server, {
    world,
    heartbeat_interval_ms: options.heartbeat_interval_ms ?? HEARTBEAT_INTERVAL_MS,
    gatewayUrl,
  });
  await listen(app, options.port ?? 0, host);
  base = baseUrl(app, host);
  world.cdn_url = `${base}${CDN_PREFIX}`;
  return {
    url: `${base}/`,
    api_url: `${base}/api`,
    bot_token: world.bot_token,
    bot_id: world.bot_id,
    guild_id: [...world.guilds.keys()][0] ?? "",
    admin: createAdmin(world),
    faults: createFaults(world, gateway, routeFaults),
    gateway,
    requests,
    unserved,
    invalidRequestCount: () => limiter.invalidCount(),
    ...readers(world),
    close: async () => {
      await gateway.close();
      await app.close();
    },
  };
}

async function listen(app: FastifyInstance, port: number, host: string): Promise<void> {
  try {
    await app.listen({ port, host });
  } catch (error) {
    throw new Error(
      `The practice Discord cannot listen on ${host}:${port}; choose another port or stop what uses it.`,
      {
        cause: error,
      },
    );
  }
}

type Readers = Pick<
  PracticeDiscord,
  | "as"
  | "channelId"
  | "userId"
  | "roleId"
  | "messages"
  | "threads"
  | "dm"
  | "channelAsText"
  | "dmAsText"
  | "messageAsText"
  | "waitFor"
>;

function readers(world: World): Readers {
  return {
    as: (person) => personOf(world, person),
    channelId: (name) => findChannel(world, name).id,
    userId: (name) => findUser(world, name).id,
    roleId: (name) => roleId(world, name),
    messages: (channel) => historyOf(world, findChannel(world, channel).id),
    threads(channel) {
      const parent = channel === undefined ? null : findChannel(world, channel).id;
      return [...world.channels.values()].filter(
        (one) => one.thread !== null && (parent === null || one.parent_id === parent),
      );
    },
    dm: (person) => historyOf(world, directChannel(world, findUser(world, person).id).id),
    channelAsText: (channel) => channelAsText(world, findChannel(world, channel), null),
    dmAsText: (person) => channelAsText(world, directChannel(world, findUser(world, person).id), null),
    messageAsText: (message) => messageAsText(world, message),
    waitFor: (predicate, options) =>
      waitForChange(world.changes, predicate, { ...options, describe: () => describeWorld(world) }),
  };
}

/** What stands in every channel, for the message of a wait that failed. */
function describeWorld(world: World): string {
  const filled = [...world.channels.values()].filter((channel) => (world.messages.get(channel.id)?.size ?? 0) > 0);
  return `There is:\n${filled.map((channel) => channelAsText(world, channel, null)).join("\n\n")}`;
}

function baseUrl(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
