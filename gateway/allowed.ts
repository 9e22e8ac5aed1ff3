import type { ChannelPlace } from "./channel_adapter.ts";

/** Whether a place is served: its guild and its channel, a thread by its parent; direct messages always are. */
export function isAllowed(
  settings: { guild: string | null; channels: readonly string[] },
  place: ChannelPlace,
): boolean {
  if (place.kind === "dm") return true;
  if (settings.guild !== null && place.guild_id !== settings.guild) return false;
  if (settings.channels.length === 0) return true;
  return settings.channels.includes(place.channel_id) || settings.channels.includes(place.parent_channel_id ?? "");
}
