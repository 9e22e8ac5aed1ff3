import type { Channel, Guild, World } from "./model.ts";
import { failure } from "./failure.ts";

/** The permission bits of Discord that matter here. */
export const PERMISSION = {
  administrator: 1n << 3n,
  manage_channels: 1n << 4n,
  manage_guild: 1n << 5n,
  add_reactions: 1n << 6n,
  view_channel: 1n << 10n,
  send_messages: 1n << 11n,
  manage_messages: 1n << 13n,
  embed_links: 1n << 14n,
  attach_files: 1n << 15n,
  read_message_history: 1n << 16n,
  mention_everyone: 1n << 17n,
  use_application_commands: 1n << 31n,
  manage_threads: 1n << 34n,
  create_public_threads: 1n << 35n,
  create_private_threads: 1n << 36n,
  send_messages_in_threads: 1n << 38n,
  pin_messages: 1n << 51n,
} as const;
export type PermissionName = keyof typeof PERMISSION;

/** All bits named above. */
export const ALL_PERMISSIONS = Object.values(PERMISSION).reduce((all, bit) => all | bit, 0n);

/** What an ordinary member may do. */
export const MEMBER_PERMISSIONS =
  ALL_PERMISSIONS &
  ~(
    PERMISSION.administrator |
    PERMISSION.manage_channels |
    PERMISSION.manage_guild |
    PERMISSION.manage_messages |
    PERMISSION.manage_threads |
    PERMISSION.mention_everyone |
    PERMISSION.pin_messages
  );

/** The bits that a member has in a channel; a thread has those of its parent. In a DM both ends may do everything. */
export function permissionsIn(world: World, channel: Channel, userId: string): bigint {
  if (channel.guild_id === null) return channel.recipient_ids.includes(userId) ? MEMBER_PERMISSIONS : 0n;
  const guild = world.guilds.get(channel.guild_id);
  const member = guild?.members.get(userId);
  if (guild === undefined || member === undefined) return 0n;
  const base = basePermissions(guild, userId);
  if ((base & PERMISSION.administrator) !== 0n) return ALL_PERMISSIONS;
  const parent = channel.thread === null ? channel : world.channels.get(channel.parent_id ?? "");
  return applyOverwrites(base, parent ?? channel, guild.id, userId, member.role_ids);
}

/** What a member's roles grant in the guild as a whole. */
export function basePermissions(guild: Guild, userId: string): bigint {
  if (guild.owner_id === userId) return ALL_PERMISSIONS;
  const member = guild.members.get(userId);
  let bits = guild.roles.get(guild.id)?.permissions ?? 0n;
  for (const roleId of member?.role_ids ?? []) bits |= guild.roles.get(roleId)?.permissions ?? 0n;
  return bits;
}

/** Whether a person sees a channel: private threads only by membership or with the right to manage threads. */
export function canView(world: World, channel: Channel, userId: string): boolean {
  const bits = permissionsIn(world, channel, userId);
  if ((bits & PERMISSION.view_channel) === 0n) return false;
  if (channel.type !== 12) return true;
  return channel.thread?.member_ids.has(userId) === true || (bits & PERMISSION.manage_threads) !== 0n;
}

export function may(world: World, channel: Channel, userId: string, name: PermissionName): boolean {
  return (permissionsIn(world, channel, userId) & PERMISSION[name]) !== 0n;
}

/** Throws 50001 when the channel is hidden from the person and 50013 when a named right is missing. */
export function requirePermissions(world: World, channel: Channel, userId: string, ...names: PermissionName[]): void {
  if (!canView(world, channel, userId)) throw failure("missing_access");
  for (const name of names) if (!may(world, channel, userId, name)) throw failure("missing_permissions");
}

// Discord's order: everyone, then all roles together, then the member.
function applyOverwrites(
  base: bigint,
  channel: Channel,
  everyoneId: string,
  userId: string,
  roleIds: readonly string[],
): bigint {
  const apply = (bits: bigint, matches: (id: string) => boolean): bigint => {
    const found = channel.overwrites.filter((overwrite) => matches(overwrite.id));
    const deny = found.reduce((all, overwrite) => all | overwrite.deny, 0n);
    const allow = found.reduce((all, overwrite) => all | overwrite.allow, 0n);
    return (bits & ~deny) | allow;
  };
  const everyone = apply(base, (id) => id === everyoneId);
  const roles = apply(everyone, (id) => roleIds.includes(id));
  return apply(roles, (id) => id === userId);
}
