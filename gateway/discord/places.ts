import { ChannelType, PermissionFlagsBits, type Channel, type Client } from "discord.js";
import type { ChannelPlace, ChannelResult } from "../channel_adapter.ts";
import { attempt } from "./failures.ts";

/** Where a channel is, from what discord.js keeps of it. */
export function placeOfChannel(channel: Channel): ChannelPlace {
  if (channel.isDMBased()) {
    const kind = channel.type === ChannelType.DM ? "dm" : "other";
    return { channel_id: channel.id, kind, name: "", guild_id: null, parent_channel_id: null, is_archived: false };
  }
  return {
    channel_id: channel.id,
    kind: kindOf(channel),
    name: channel.name,
    guild_id: channel.guildId,
    parent_channel_id: channel.isThread() ? channel.parentId : null,
    is_archived: channel.isThread() && channel.archived === true,
  };
}

function kindOf(channel: Channel): ChannelPlace["kind"] {
  if (channel.isThread()) return "thread";
  switch (channel.type) {
    case ChannelType.GuildText:
    case ChannelType.GuildAnnouncement:
      return "channel";
    case ChannelType.GuildForum:
    case ChannelType.GuildMedia:
      return "forum";
    case ChannelType.GuildVoice:
    case ChannelType.GuildStageVoice:
      return "voice";
    default:
      return "other";
  }
}

/** Where a channel is; asked of Discord when it is not known, as with archived threads. */
export async function findPlace(client: Client<true>, channel_id: string): Promise<ChannelResult<ChannelPlace>> {
  const known = client.channels.cache.get(channel_id);
  if (known !== undefined) return { ok: true, value: placeOfChannel(known) };
  const fetched = await attempt(() => client.channels.fetch(channel_id));
  if (!fetched.ok) return fetched;
  if (fetched.value === null) {
    return { ok: false, reason: "channel_gone", detail: `There is no channel ${channel_id}.` };
  }
  return { ok: true, value: placeOfChannel(fetched.value) };
}

/** Text channels that we can read and answer in, those with the newest messages first. */
export function readableChannels(client: Client<true>): ChannelPlace[] {
  return client.channels.cache
    .filter((channel) => {
      if (channel.isDMBased() || channel.isThread() || !channel.isTextBased()) return false;
      const mine = channel.permissionsFor(client.user);
      return mine?.has(PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory) === true;
    })
    .map((channel) => ({ channel, last: "lastMessageId" in channel ? (channel.lastMessageId ?? "0") : "0" }))
    .toSorted((one, other) => (BigInt(other.last) > BigInt(one.last) ? 1 : -1))
    .map(({ channel }) => placeOfChannel(channel));
}
