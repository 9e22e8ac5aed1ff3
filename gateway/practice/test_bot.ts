import { Client, Events, GatewayIntentBits, Partials } from "discord.js";
import type { ClientOptions } from "discord.js";
import { GENEROUS_RATE_LIMITS, startPractice } from "./index.ts";
import type { PracticeDiscord, PracticeOptions } from "./index.ts";

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
