import { Client, Events, GatewayIntentBits, Partials } from "discord.js";
import type { ClientOptions } from "discord.js";
import { GENEROUS_RATE_LIMITS, startPractice } from "../../gateway/practice/index.ts";
import type { PracticeDiscord, PracticeOptions } from "../../gateway/practice/index.ts";
import { loadDiscordSchema } from "./discord_schema.ts";

export interface Bench extends AsyncDisposable {
  practice: PracticeDiscord;
  client: Client<true>;
}

export const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.MessageContent,
  GatewayIntentBits.DirectMessages,
];

/** A discord.js client that talks to the practice Discord. Not logged in yet. */
export function createClient(practice: PracticeDiscord, options: Partial<ClientOptions> = {}): Client {
  return new Client({
    intents: INTENTS,
    partials: [Partials.Channel],
    ...options,
    rest: { api: practice.api_url, ...options.rest },
  });
}

/** A practice Discord with a bot that is logged in; both end with the scope. */
export async function startBot(
  options: PracticeOptions = {},
  clientOptions: Partial<ClientOptions> = {},
): Promise<Bench> {
  const practice = await startPractice({ rate_limits: GENEROUS_RATE_LIMITS, ...options });
  const client = createClient(practice, clientOptions);
  const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(practice.bot_token);
  return {
    practice,
    client: await ready,
    [Symbol.asyncDispose]: async () => {
      await client.destroy();
      await practice.close();
    },
  };
}

const schema = loadDiscordSchema();

/**
 * Throws when the bot asked for a route that nobody serves, or when a body or an answer does not fit Discord's own
 * description, where that is on this machine.
 */
export function assertFaithful(practice: PracticeDiscord): void {
  const errors = [
    ...practice.unserved.map((route) => `${route} is served by nobody`),
    ...(schema?.checkRequests(practice.requests) ?? []),
  ];
  if (errors.length > 0) throw new Error(errors.join("\n"));
}
