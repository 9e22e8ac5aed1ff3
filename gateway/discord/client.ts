import { Client, DiscordAPIError, Events, GatewayCloseCodes, GatewayIntentBits, Options, Partials } from "discord.js";
import type { Log } from "../../src/lib/log.ts";
import { paced } from "./pace.ts";

/** How a connection attempt ended. */
export type Connection =
  | { ok: true; client: Client<true>; sees_content: boolean }
  /** Trying again is pointless: the sentence says what to do. */
  | { ok: false; error: string };

const DISALLOWED_INTENTS: number = GatewayCloseCodes.DisallowedIntents;

const INTENTS = [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages];

/** Logs in. Where the message-content intent is refused, once more without it: mentions, commands and DMs work. */
export async function connect(settings: { token: string; api: string }, log: Log): Promise<Connection> {
  const whole = await logIn(settings, [...INTENTS, GatewayIntentBits.MessageContent], log);
  if (whole.kind === "ready") return { ok: true, client: whole.client, sees_content: true };
  if (whole.kind === "refused") return { ok: false, error: whole.error };
  log.warn("discord.no_message_content", {
    message:
      "Discord refuses the message content intent, so only mentions, replies, commands and DMs are heard. Switch it on under Bot in the developer portal.",
  });
  const reduced = await logIn(settings, INTENTS, log);
  if (reduced.kind === "ready") return { ok: true, client: reduced.client, sees_content: false };
  return {
    ok: false,
    error: reduced.kind === "refused" ? reduced.error : "Discord refuses the intents that a bot needs at least.",
  };
}

type Login = { kind: "ready"; client: Client<true> } | { kind: "intents" } | { kind: "refused"; error: string };

async function logIn(settings: { token: string; api: string }, intents: GatewayIntentBits[], log: Log): Promise<Login> {
  const client = new Client({
    intents,
    partials: [Partials.Channel, Partials.Message],
    allowedMentions: { parse: [] },
    rest: { api: settings.api, makeRequest: paced() },
    // What people wrote stays on the platform and on the server; a gateway needs channels and its own membership alone.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      ReactionManager: 0,
      PresenceManager: 0,
      VoiceStateManager: 0,
      ThreadMemberManager: 0,
      GuildEmojiManager: 0,
      GuildStickerManager: 0,
      GuildInviteManager: 0,
      GuildBanManager: 0,
      StageInstanceManager: 0,
      GuildScheduledEventManager: 0,
      AutoModerationRuleManager: 0,
      UserManager: { maxSize: 200, keepOverLimit: (user) => user.id === user.client.user.id },
      GuildMemberManager: { maxSize: 200, keepOverLimit: (member) => member.id === member.client.user.id },
    }),
  });
  client.on(Events.Error, (error) => log.warn("discord.error", { error }));
  client.on(Events.ShardError, (error) => log.warn("discord.connection_error", { error }));
  client.on(Events.ShardReconnecting, () => log.info("discord.reconnecting"));
  client.on(Events.ShardResume, () => log.info("discord.resumed"));
  const outcome = await firstOutcome(client, settings.token);
  if (outcome.kind !== "ready") await client.destroy();
  return outcome;
}

function firstOutcome(client: Client, token: string): Promise<Login> {
  return new Promise((resolve, reject) => {
    client.once(Events.ClientReady, (ready) => resolve({ kind: "ready", client: ready }));
    client.on(Events.ShardDisconnect, ({ code }) => {
      if (code === DISALLOWED_INTENTS) resolve({ kind: "intents" });
      else resolve({ kind: "refused", error: closeWords(code) });
    });
    client.login(token).catch((error: unknown) => {
      if (isDisallowedIntents(error)) resolve({ kind: "intents" });
      else if (isBadToken(error)) {
        resolve({ kind: "refused", error: closeWords(GatewayCloseCodes.AuthenticationFailed) });
      } else reject(error);
    });
  });
}

function isBadToken(error: unknown): boolean {
  if (error instanceof DiscordAPIError) return error.status === 401;
  return error instanceof Error && "code" in error && error.code === "TokenInvalid";
}

function isDisallowedIntents(error: unknown): boolean {
  return error instanceof Error && /disallowed intents/i.test(error.message);
}

const TOO_MANY_GUILDS = "This bot is in too many guilds for one connection.";
const BAD_INTENTS = "Discord refuses the intents. Switch on Message Content under Bot in the developer portal.";
const CLOSE_WORDS = new Map<number, string>([
  [
    GatewayCloseCodes.AuthenticationFailed,
    "Discord refuses the token. Make a new one under Bot in the developer portal and set TURNSTONE_DISCORD_TOKEN.",
  ],
  [GatewayCloseCodes.DisallowedIntents, BAD_INTENTS],
  [GatewayCloseCodes.InvalidIntents, BAD_INTENTS],
  [GatewayCloseCodes.ShardingRequired, TOO_MANY_GUILDS],
  [GatewayCloseCodes.InvalidShard, TOO_MANY_GUILDS],
]);

/** What an operator can do about a connection that Discord will not have again. */
export function closeWords(code: number): string {
  return CLOSE_WORDS.get(code) ?? `Discord closed the connection for good (code ${code}).`;
}
