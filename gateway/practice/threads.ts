import { emit, INTENT, publishChannel } from "./events.ts";
import { failure } from "./failure.ts";
import { CHANNEL_TYPE } from "./model.ts";
import type { Channel, ChannelType, Thread, World } from "./model.ts";
import { threadMemberPayload } from "./payloads.ts";
import { newSnowflake, snowflakeTime } from "./world.ts";

/** The choices for when a quiet thread leaves the list, in minutes. */
export const AUTO_ARCHIVE_MINUTES: readonly number[] = [60, 1440, 4320, 10_080];

const AUTO_ARCHIVE_DEFAULT = 4320;

/** Threads that may be open in a guild at once. */
export const ACTIVE_THREADS_MAX = 1000;

export interface NewThread {
  /** The message's id where it begins at one. */
  id?: string;
  parent: Channel;
  name: string;
  type: ChannelType;
  owner_id: string;
  auto_archive_duration?: number | null;
  invitable?: boolean;
  applied_tags?: string[];
}

/** Makes a thread with its owner in it and tells everybody. */
export function createThread(world: World, input: NewThread): Channel {
  const thread: Thread = {
    owner_id: input.owner_id,
    archived: false,
    locked: false,
    invitable: input.invitable ?? true,
    auto_archive_duration: input.auto_archive_duration ?? AUTO_ARCHIVE_DEFAULT,
    created_at: world.now(),
    archive_changed_at: world.now(),
    member_ids: new Set([input.owner_id]),
    message_count: 0,
    total_message_sent: 0,
    applied_tags: input.applied_tags ?? [],
  };
  const channel: Channel = {
    ...emptyChannel(input.id ?? newSnowflake(world), input.type, input.name),
    guild_id: input.parent.guild_id,
    parent_id: input.parent.id,
    thread,
  };
  world.channels.set(channel.id, channel);
  publishChannel(world, "CREATE", channel);
  return channel;
}

export function emptyChannel(id: string, type: ChannelType, name: string): Channel {
  return {
    id,
    type,
    guild_id: null,
    name,
    topic: null,
    parent_id: null,
    position: 0,
    overwrites: [],
    recipient_ids: [],
    last_message_id: null,
    rate_limit_per_user: 0,
    tags: [],
    thread: null,
  };
}

/** Counts a message in its thread, adds its author and brings the thread back from the archive unless it is locked. */
export function noteThreadMessage(world: World, channel: Channel, authorId: string): void {
  const thread = channel.thread;
  if (thread === null) return;
  thread.message_count += 1;
  thread.total_message_sent += 1;
  addThreadMember(world, channel, authorId);
  if (thread.archived && !thread.locked) setArchived(world, channel, { archived: false });
}

/** Archives, locks or brings back a thread. */
export function setArchived(world: World, channel: Channel, to: { archived?: boolean; locked?: boolean }): void {
  const thread = threadOf(channel);
  if (to.archived !== undefined && to.archived !== thread.archived) {
    thread.archived = to.archived;
    thread.archive_changed_at = world.now();
  }
  if (to.locked !== undefined) thread.locked = to.locked;
  publishChannel(world, "UPDATE", channel);
}

export function addThreadMember(world: World, channel: Channel, userId: string): void {
  const thread = threadOf(channel);
  if (thread.member_ids.has(userId) || !world.users.has(userId)) return;
  thread.member_ids.add(userId);
  publishMembers(world, channel, { added: userId });
}

export function removeThreadMember(world: World, channel: Channel, userId: string): void {
  const thread = threadOf(channel);
  if (!thread.member_ids.delete(userId)) return;
  publishMembers(world, channel, { removed: userId });
}

// Without the members intent Discord sends only changes that concern the bot itself.
function publishMembers(world: World, channel: Channel, change: { added?: string; removed?: string }): void {
  const concernsBot = change.added === world.bot_id || change.removed === world.bot_id;
  const data = {
    id: channel.id,
    guild_id: channel.guild_id,
    member_count: threadOf(channel).member_ids.size,
    ...(change.added === undefined ? {} : { added_members: [threadMemberPayload(channel, change.added)] }),
    ...(change.removed === undefined ? {} : { removed_member_ids: [change.removed] }),
  };
  emit(world, "THREAD_MEMBERS_UPDATE", data, concernsBot ? INTENT.guilds : INTENT.guild_members);
  world.changes.emit({ kind: "channel", channel_id: channel.id });
}

/** The thread part of a channel; throws Discord's refusal for any other channel. */
export function threadOf(channel: Channel): Thread {
  if (channel.thread === null) throw failure("wrong_channel_type");
  return channel.thread;
}

/** Threads of a guild that are not archived. */
export function activeThreads(world: World, guildId: string): Channel[] {
  return [...world.channels.values()].filter(
    (channel) => channel.guild_id === guildId && channel.thread !== null && !channel.thread.archived,
  );
}

/** Archives the threads in which nobody wrote for as long as they allow. */
export function archiveIdleThreads(world: World): void {
  for (const channel of world.channels.values()) {
    const thread = channel.thread;
    if (thread === null || thread.archived) continue;
    const last = snowflakeTime(channel.last_message_id ?? channel.id);
    const quietSince = Math.max(last, thread.archive_changed_at);
    if (world.now() - quietSince > thread.auto_archive_duration * 60_000) {
      setArchived(world, channel, { archived: true });
    }
  }
}

/** The direct message between the bot and a person, made when it is not there. */
export function directChannel(world: World, userId: string): Channel {
  const known = [...world.channels.values()].find(
    (channel) => channel.type === CHANNEL_TYPE.dm && channel.recipient_ids.includes(userId),
  );
  if (known !== undefined) return known;
  const channel: Channel = {
    ...emptyChannel(newSnowflake(world), CHANNEL_TYPE.dm, ""),
    recipient_ids: [userId, world.bot_id],
  };
  world.channels.set(channel.id, channel);
  world.changes.emit({ kind: "channel", channel_id: channel.id });
  return channel;
}
