import type { JsonObject } from "../../src/protocol/json.ts";
import type { Channel, Message, World } from "./model.ts";
import { channelPayload, messageEventPayload } from "./payloads.ts";
import { canView } from "./permissions.ts";

/** The gateway intents that matter here. */
export const INTENT = {
  guilds: 1 << 0,
  guild_members: 1 << 1,
  guild_presences: 1 << 8,
  guild_messages: 1 << 9,
  guild_message_reactions: 1 << 10,
  guild_message_typing: 1 << 11,
  direct_messages: 1 << 12,
  direct_message_reactions: 1 << 13,
  direct_message_typing: 1 << 14,
  message_content: 1 << 15,
} as const;

/** Tells the bot of a message, unless it is ephemeral or the bot cannot see its channel; and everybody who watches. */
export function publishMessage(world: World, name: "MESSAGE_CREATE" | "MESSAGE_UPDATE", message: Message): void {
  const channel = world.channels.get(message.channel_id);
  if (channel === undefined) return;
  if (message.ephemeral_for === null && botSees(world, channel)) {
    world.events.emit({
      name,
      data: messageEventPayload(world, message),
      intent: channel.guild_id === null ? INTENT.direct_messages : INTENT.guild_messages,
      private_message: message,
    });
  }
  world.changes.emit({ kind: "messages", channel_id: channel.id });
}

export function publishMessageDelete(world: World, message: Message): void {
  const channel = world.channels.get(message.channel_id);
  if (channel === undefined) return;
  if (message.ephemeral_for === null && botSees(world, channel)) {
    const guild = channel.guild_id === null ? {} : { guild_id: channel.guild_id };
    emit(world, "MESSAGE_DELETE", { id: message.id, channel_id: channel.id, ...guild }, messageIntent(channel));
  }
  world.changes.emit({ kind: "messages", channel_id: channel.id });
}

/** `CHANNEL_*` or `THREAD_*`, by the channel's kind. */
export function publishChannel(world: World, verb: "CREATE" | "UPDATE" | "DELETE", channel: Channel): void {
  if (botSees(world, channel)) emit(world, ...channelEvent(world, verb, channel), INTENT.guilds);
  world.changes.emit({ kind: "channel", channel_id: channel.id });
}

function channelEvent(world: World, verb: string, channel: Channel): [string, JsonObject] {
  if (channel.thread === null) return [`CHANNEL_${verb}`, channelPayload(world, channel)];
  if (verb === "DELETE") {
    const { id, guild_id, parent_id, type } = channel;
    return ["THREAD_DELETE", { id, guild_id, parent_id, type }];
  }
  const created = verb === "CREATE" ? { newly_created: true } : {};
  return [`THREAD_${verb}`, { ...channelPayload(world, channel), ...created }];
}

export function publishReaction(
  world: World,
  verb: "ADD" | "REMOVE",
  message: Message,
  emoji: string,
  userId: string,
): void {
  const channel = world.channels.get(message.channel_id);
  if (channel === undefined) return;
  const guild = channel.guild_id === null ? {} : { guild_id: channel.guild_id };
  const data = {
    user_id: userId,
    channel_id: channel.id,
    message_id: message.id,
    emoji: { id: null, name: emoji },
    burst: false,
    type: 0,
    ...guild,
  };
  const intent = channel.guild_id === null ? INTENT.direct_message_reactions : INTENT.guild_message_reactions;
  if (botSees(world, channel)) emit(world, `MESSAGE_REACTION_${verb}`, data, intent);
  world.changes.emit({ kind: "messages", channel_id: channel.id });
}

/** Somebody types; the mark fades after ten seconds or with their next message. */
export function publishTyping(world: World, channel: Channel, userId: string): void {
  world.typing.set(`${channel.id}:${userId}`, { user_id: userId, until: world.now() + TYPING_MS });
  const guild = channel.guild_id === null ? {} : { guild_id: channel.guild_id };
  const data = { channel_id: channel.id, user_id: userId, timestamp: Math.floor(world.now() / 1000), ...guild };
  const intent = channel.guild_id === null ? INTENT.direct_message_typing : INTENT.guild_message_typing;
  if (userId !== world.bot_id && botSees(world, channel)) emit(world, "TYPING_START", data, intent);
  world.changes.emit({ kind: "typing", channel_id: channel.id, user_id: userId });
}

/** Discord shows a typing mark for ten seconds. */
const TYPING_MS = 10_000;

/** An event that needs no intent or the named one, without text to hide. */
export function emit(world: World, name: string, data: JsonObject, intent: number | null): void {
  world.events.emit({ name, data, intent, private_message: null });
}

function botSees(world: World, channel: Channel): boolean {
  return canView(world, channel, world.bot_id);
}

function messageIntent(channel: Channel): number {
  return channel.guild_id === null ? INTENT.direct_messages : INTENT.guild_messages;
}
