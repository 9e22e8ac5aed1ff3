import { failure } from "./failure.ts";
import type { Channel, Command, Guild, Interaction, Message, User, World } from "./model.ts";
import { createSignal } from "./signal.ts";

/** The first millisecond of 2015, from which Discord's ids count. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** How long Discord waits for the first answer to an interaction. */
export const ACK_DEADLINE_MS = 3000;

/** How long an interaction's token works. */
export const TOKEN_LIFETIME_MS = 15 * 60_000;

/** Interactions that are remembered: far more than can be open within the 15 minutes of a token. */
const INTERACTIONS_MAX = 2000;

/** Forgets the oldest entries beyond `max`, so that a server that runs for weeks stays small. */
export function forgetOldest(entries: Map<string, unknown>, max: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(key);
  }
}

/** Remembers an interaction. */
export function keepInteraction(world: World, interaction: Interaction): void {
  world.interactions.set(interaction.id, interaction);
  forgetOldest(world.interactions, INTERACTIONS_MAX);
}

/** An empty world without people. */
export function createWorld(options: {
  now: () => number;
  bot_id: string;
  bot_token: string;
  ack_deadline_ms: number;
}): World {
  return {
    ...options,
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    messages: new Map(),
    ephemeral: new Map(),
    commands: new Map(),
    interactions: new Map(),
    attachments: new Map(),
    nonces: new Map(),
    typing: new Map(),
    cdn_url: "",
    last_id: 0n,
    events: createSignal(),
    changes: createSignal(),
  };
}

/** A snowflake: 42 bits of milliseconds, 22 bits of counter, always above the one before. */
export function newSnowflake(world: World): string {
  const byTime = BigInt(Math.max(0, Math.floor(world.now()) - DISCORD_EPOCH_MS)) << 22n;
  world.last_id = byTime > world.last_id ? byTime : world.last_id + 1n;
  return world.last_id.toString();
}

/** When an id was made, in milliseconds since the epoch. */
export function snowflakeTime(id: string): number {
  return Number(BigInt(id) >> 22n) + DISCORD_EPOCH_MS;
}

export function userOf(world: World, id: string): User {
  const user = world.users.get(id);
  if (user === undefined) throw failure("unknown_user");
  return user;
}

export function channelOf(world: World, id: string): Channel {
  const channel = world.channels.get(id);
  if (channel === undefined) throw failure("unknown_channel");
  return channel;
}

export function guildOf(world: World, id: string): Guild {
  const guild = world.guilds.get(id);
  if (guild === undefined) throw failure("unknown_guild");
  return guild;
}

/** A message of the channel's history. */
export function messageOf(world: World, channelId: string, id: string): Message {
  const message = world.messages.get(channelId)?.get(id);
  if (message === undefined) throw failure("unknown_message");
  return message;
}

/** The channel's history, oldest first. */
export function historyOf(world: World, channelId: string): Message[] {
  return [...(world.messages.get(channelId)?.values() ?? [])];
}

/** History and what only this person sees, oldest first. */
export function visibleTo(world: World, channelId: string, userId: string): Message[] {
  const own = [...world.ephemeral.values()].filter(
    (message) => message.channel_id === channelId && message.ephemeral_for === userId,
  );
  return [...historyOf(world, channelId), ...own].toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

/** The name that others see: nickname, else display name. */
export function displayName(world: World, userId: string, guildId: string | null): string {
  const nick = guildId === null ? null : world.guilds.get(guildId)?.members.get(userId)?.nick;
  return nick ?? world.users.get(userId)?.global_name ?? "somebody who left";
}

/** The commands of a scope: a guild's id, or null for the global ones. */
export function commandsOf(world: World, guildId: string | null): Command[] {
  return [...world.commands.values()].filter((command) => command.guild_id === guildId);
}
