import type { JsonObject } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { INTENT } from "../events.ts";
import type { BotEvent, Guild, World } from "../model.ts";
import { channelPayload, guildPayload, iso, memberPayload, userPayload } from "../payloads.ts";
import { canView } from "../permissions.ts";
import { activeThreads } from "../threads.ts";
import { userOf } from "../world.ts";
import { textOf } from "../json.ts";

/** What an identify is answered with; guilds follow one by one. */
export function readyPayload(world: World, sessionId: string, gatewayUrl: string): JsonObject {
  return {
    v: 10,
    user: { ...userPayload(userOf(world, world.bot_id)), mfa_enabled: false, verified: true, email: null },
    guilds: [...world.guilds.keys()].map((id) => ({ id, unavailable: true })),
    session_id: sessionId,
    resume_gateway_url: gatewayUrl,
    application: { id: world.bot_id, flags: 1 << 19 },
    private_channels: [],
    relationships: [],
    presences: [],
    geo_ordered_rtc_regions: [],
    _trace: [],
  };
}

/** A guild with the channels and open threads that the bot can see. Of the members only the bot is listed. */
export function guildCreatePayload(world: World, guild: Guild): JsonObject {
  const seen = [...world.channels.values()].filter(
    (channel) => channel.guild_id === guild.id && canView(world, channel, world.bot_id),
  );
  const self = memberPayload(world, guild, world.bot_id, true);
  return {
    ...guildPayload(guild),
    joined_at: iso(guild.members.get(world.bot_id)?.joined_at ?? 0),
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    members: self === null ? [] : [self],
    channels: seen.filter((channel) => channel.thread === null).map((channel) => channelPayload(world, channel)),
    threads: activeThreads(world, guild.id)
      .filter((thread) => canView(world, thread, world.bot_id))
      .map((thread) => channelPayload(world, thread)),
    voice_states: [],
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}

/** Members by id or by the beginning of their name. */
export function membersChunk(world: World, request: JsonObject): JsonObject {
  const guild = world.guilds.get(textOf(request["guild_id"]));
  const ids = Array.isArray(request["user_ids"]) ? request["user_ids"].map(String) : null;
  const query = typeof request["query"] === "string" ? request["query"].toLowerCase() : "";
  const members = [...(guild?.members.keys() ?? [])].filter((id) => {
    if (ids !== null) return ids.includes(id);
    return world.users.get(id)?.username.startsWith(query) === true;
  });
  return {
    guild_id: textOf(request["guild_id"]),
    members: guild === undefined ? [] : members.map((id) => memberPayload(world, guild, id, true)),
    chunk_index: 0,
    chunk_count: 1,
    not_found: (ids ?? []).filter((id) => !members.includes(id)),
    ...(typeof request["nonce"] === "string" ? { nonce: request["nonce"] } : {}),
  };
}

/**
 * A message event without what needs the message content intent. Own messages, direct ones and those that mention the
 * bot keep it.
 */
export function hidePrivate(world: World, intents: number, event: BotEvent): JsonObject {
  const message = event.private_message;
  if (message === null || (intents & INTENT.message_content) !== 0) return event.data;
  const isDirect = world.channels.get(message.channel_id)?.guild_id === null;
  if (isDirect || message.author_id === world.bot_id || message.mentions.includes(world.bot_id)) return event.data;
  const { message_snapshots: _snapshots, poll: _poll, ...shown } = event.data;
  const quoted = shown["referenced_message"];
  const bare = { content: "", embeds: [], components: [], attachments: [] };
  const hidesQuote = isJsonObject(quoted) && isJsonObject(quoted["author"]) && quoted["author"]["id"] !== world.bot_id;
  return { ...shown, ...bare, ...(hidesQuote ? { referenced_message: { ...quoted, ...bare } } : {}) };
}
