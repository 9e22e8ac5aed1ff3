import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { componentPayload } from "./component_payloads.ts";
import { attachmentPayload } from "./files.ts";
import type { Channel, Guild, Interaction, Message, Role, User, World } from "./model.ts";
import { permissionsIn } from "./permissions.ts";

/** What the API and the gateway say about people, roles and guilds. */

export function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** A user object with every field that Discord sends to a bot. */
export function userPayload(user: User): JsonObject {
  return {
    id: user.id,
    username: user.username,
    global_name: user.bot ? null : user.global_name,
    discriminator: user.bot ? "0001" : "0",
    avatar: avatarHash(user),
    avatar_decoration_data: null,
    collectibles: null,
    display_name_styles: null,
    banner: null,
    accent_color: user.color,
    clan: null,
    primary_guild: null,
    public_flags: 0,
    flags: 0,
    ...(user.bot ? { bot: true } : {}),
  };
}

/** The avatar is drawn from the colour, so its hash carries the colour. */
export function avatarHash(user: User): string {
  return user.color.toString(16).padStart(32, "0");
}

export function rolePayload(guild: Guild, role: Role): JsonObject {
  return {
    id: role.id,
    name: role.name,
    description: null,
    permissions: role.permissions.toString(),
    position: role.position,
    color: role.color,
    colors: { primary_color: role.color, secondary_color: null, tertiary_color: null },
    hoist: role.id !== guild.id,
    managed: false,
    mentionable: false,
    icon: null,
    unicode_emoji: null,
    flags: 0,
  };
}

/** A guild member; `withUser` is false inside a message, whose author is named beside it. */
export function memberPayload(world: World, guild: Guild, userId: string, withUser: boolean): JsonObject | null {
  const member = guild.members.get(userId);
  const user = world.users.get(userId);
  if (member === undefined || user === undefined) return null;
  return {
    nick: member.nick,
    avatar: null,
    banner: null,
    roles: member.role_ids,
    joined_at: iso(member.joined_at),
    premium_since: null,
    communication_disabled_until: null,
    unusual_dm_activity_until: null,
    pending: false,
    flags: 0,
    mute: false,
    deaf: false,
    ...(withUser ? { user: userPayload(user) } : {}),
  };
}

/** The guild as REST answers it. */
export function guildPayload(guild: Guild): JsonObject {
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    description: null,
    home_header: null,
    splash: null,
    discovery_splash: null,
    features: [],
    banner: null,
    owner_id: guild.owner_id,
    application_id: null,
    region: "deprecated",
    afk_channel_id: null,
    afk_timeout: 300,
    system_channel_id: null,
    system_channel_flags: 0,
    widget_enabled: false,
    widget_channel_id: null,
    verification_level: 0,
    roles: [...guild.roles.values()].map((role) => rolePayload(guild, role)),
    default_message_notifications: 1,
    mfa_level: 0,
    explicit_content_filter: 0,
    max_presences: null,
    max_members: 500_000,
    max_stage_video_channel_users: 50,
    max_video_channel_users: 25,
    vanity_url_code: null,
    premium_tier: 0,
    premium_subscription_count: 0,
    preferred_locale: "en-US",
    rules_channel_id: null,
    safety_alerts_channel_id: null,
    public_updates_channel_id: null,
    premium_progress_bar_enabled: false,
    nsfw: false,
    nsfw_level: 0,
    emojis: [],
    stickers: [],
    incidents_data: null,
  };
}

/** A channel, thread or direct message, as both REST and the gateway show it. */
export function channelPayload(world: World, channel: Channel): JsonObject {
  if (channel.type === 1) return directPayload(world, channel);
  const shared: JsonObject = {
    id: channel.id,
    type: channel.type,
    guild_id: channel.guild_id,
    name: channel.name,
    parent_id: channel.parent_id,
    last_message_id: channel.last_message_id,
    rate_limit_per_user: channel.rate_limit_per_user,
    flags: 0,
  };
  return channel.thread === null
    ? { ...shared, ...topLevelFields(channel) }
    : { ...shared, ...threadFields(world, channel, channel.thread) };
}

function topLevelFields(channel: Channel): JsonObject {
  return {
    position: channel.position,
    nsfw: false,
    topic: channel.topic,
    permission_overwrites: channel.overwrites.map((overwrite) => ({
      id: overwrite.id,
      type: overwrite.type,
      allow: overwrite.allow.toString(),
      deny: overwrite.deny.toString(),
    })),
    ...(channel.type === 2 ? { bitrate: 64_000, user_limit: 0, rtc_region: null } : {}),
    ...(channel.type === 15 ? forumFields(channel) : {}),
  };
}

function forumFields(channel: Channel): JsonObject {
  return {
    available_tags: channel.tags.map((tag) => ({ ...tag, moderated: false, emoji_id: null, emoji_name: null })),
    default_reaction_emoji: null,
    default_sort_order: null,
    default_forum_layout: 0,
  };
}

function threadFields(world: World, channel: Channel, thread: NonNullable<Channel["thread"]>): JsonObject {
  return {
    owner_id: thread.owner_id,
    thread_metadata: {
      archived: thread.archived,
      archive_timestamp: iso(thread.archive_changed_at),
      auto_archive_duration: thread.auto_archive_duration,
      locked: thread.locked,
      create_timestamp: iso(thread.created_at),
      ...(channel.type === 12 ? { invitable: thread.invitable } : {}),
    },
    message_count: thread.message_count,
    member_count: Math.min(thread.member_ids.size, 50),
    total_message_sent: thread.total_message_sent,
    ...(thread.applied_tags.length > 0 ? { applied_tags: thread.applied_tags } : {}),
    ...(thread.member_ids.has(world.bot_id) ? { member: threadMemberPayload(channel, world.bot_id) } : {}),
  };
}

export function threadMemberPayload(channel: Channel, userId: string): JsonObject {
  return {
    id: channel.id,
    user_id: userId,
    join_timestamp: iso(channel.thread?.created_at ?? 0),
    flags: 0,
  };
}

function directPayload(world: World, channel: Channel): JsonObject {
  const others = channel.recipient_ids.filter((id) => id !== world.bot_id);
  return {
    id: channel.id,
    type: 1,
    flags: 0,
    last_message_id: channel.last_message_id,
    recipients: others.flatMap((id) => {
      const user = world.users.get(id);
      return user === undefined ? [] : [userPayload(user)];
    }),
  };
}

/** A message as REST answers it. */
export function messagePayload(world: World, message: Message): JsonObject {
  const referenced = message.reference?.type === 0 ? referencedPayload(world, message) : {};
  const thread = world.channels.get(message.id);
  return {
    id: message.id,
    channel_id: message.channel_id,
    type: message.type,
    author: authorPayload(world, message),
    content: message.content,
    timestamp: iso(message.created_at),
    edited_timestamp: message.edited_at === null ? null : iso(message.edited_at),
    tts: message.tts,
    mention_everyone: message.mention_everyone,
    mentions: usersPayload(world, message.mentions),
    mention_roles: message.mention_roles,
    attachments: message.attachments.map((attachment) => attachmentPayload(world, message.channel_id, attachment)),
    embeds: message.embeds,
    components: message.components.map((component) => componentPayload(world, message, component)),
    pinned: message.pinned,
    flags: message.flags,
    ...(message.reactions.size > 0 ? { reactions: reactionsPayload(world, message) } : {}),
    ...(message.nonce === null ? {} : { nonce: message.nonce }),
    ...(message.reference === null ? {} : { message_reference: referencePayload(message.reference) }),
    ...(message.snapshot === null ? {} : { message_snapshots: [{ message: message.snapshot }] }),
    ...(message.stickers.length > 0 ? { sticker_items: message.stickers } : {}),
    ...(message.poll === null ? {} : { poll: message.poll }),
    ...(thread === undefined ? {} : { thread: channelPayload(world, thread) }),
    ...interactionFields(world, message),
    ...referenced,
  };
}

/** A message as `MESSAGE_CREATE` and `MESSAGE_UPDATE` carry it. */
export function messageEventPayload(world: World, message: Message): JsonObject {
  const channel = world.channels.get(message.channel_id);
  const guild = world.guilds.get(channel?.guild_id ?? "");
  const member = guild === undefined ? null : memberPayload(world, guild, message.author_id, false);
  return {
    ...messagePayload(world, message),
    ...(channel === undefined ? {} : { channel_type: channel.type }),
    ...(guild === undefined ? {} : { guild_id: guild.id }),
    ...(member === null || message.webhook_name !== null ? {} : { member }),
  };
}

function authorPayload(world: World, message: Message): JsonObject {
  const user = world.users.get(message.author_id);
  if (message.webhook_name !== null || user === undefined) {
    return {
      id: message.author_id,
      username: message.webhook_name ?? "deleted_user",
      global_name: null,
      discriminator: "0000",
      avatar: null,
      public_flags: 0,
      flags: 0,
      primary_guild: null,
      ...(message.webhook_name === null ? {} : { bot: true }),
    };
  }
  return userPayload(user);
}

function usersPayload(world: World, ids: readonly string[]): JsonValue[] {
  return ids.flatMap((id) => {
    const user = world.users.get(id);
    return user === undefined ? [] : [userPayload(user)];
  });
}

function reactionsPayload(world: World, message: Message): JsonValue[] {
  return [...message.reactions].map(([name, users]) => ({
    emoji: { id: null, name },
    count: users.size,
    count_details: { burst: 0, normal: users.size },
    burst_colors: [],
    me_burst: false,
    burst_me: false,
    me: users.has(world.bot_id),
    burst_count: 0,
  }));
}

function referencePayload(reference: NonNullable<Message["reference"]>): JsonObject {
  return {
    type: reference.type,
    channel_id: reference.channel_id,
    message_id: reference.message_id,
    ...(reference.guild_id === null ? {} : { guild_id: reference.guild_id }),
  };
}

function referencedPayload(world: World, message: Message): JsonObject {
  const reference = message.reference;
  if (reference === null) return {};
  const target = world.messages.get(reference.channel_id)?.get(reference.message_id);
  if (target === undefined) return { referenced_message: null };
  // Discord nests one level only: the quoted message does not quote in turn.
  const { referenced_message: _nested, ...flat } = messagePayload(world, { ...target, reference: null });
  return { referenced_message: flat };
}

function interactionFields(world: World, message: Message): JsonObject {
  const webhook = message.webhook_name === null ? {} : { webhook_id: message.author_id };
  const interaction = world.interactions.get(message.interaction_id ?? "");
  if (interaction === undefined) return webhook;
  return {
    application_id: world.bot_id,
    webhook_id: world.bot_id,
    interaction_metadata: interactionMetadata(world, interaction),
  };
}

function interactionMetadata(world: World, interaction: Interaction): JsonObject {
  const user = world.users.get(interaction.user_id);
  const trigger = world.interactions.get(interaction.triggered_by ?? "");
  return {
    id: interaction.id,
    type: interaction.type,
    ...(user === undefined ? {} : { user: userPayload(user) }),
    authorizing_integration_owners: { "0": interaction.guild_id ?? "0" },
    ...(interaction.command_name === null ? {} : { name: interaction.command_name, command_type: 1 }),
    ...(interaction.type === 3 ? { interacted_message_id: interaction.message_id ?? "0" } : {}),
    ...(trigger === undefined ? {} : { triggering_interaction_metadata: interactionMetadata(world, trigger) }),
  };
}

/** The rights of the bot or a person in a channel, as interactions carry them. */
export function permissionsPayload(world: World, channel: Channel, userId: string): string {
  return permissionsIn(world, channel, userId).toString();
}
