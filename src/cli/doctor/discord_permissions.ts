import type { Channel, Guild } from "./discord_answers.ts";

const ADMINISTRATOR = 1n << 3n;
const EVERYTHING = (1n << 60n) - 1n;

const NEEDED: readonly (readonly [string, bigint])[] = [
  ["View Channel", 1n << 10n],
  ["Send Messages", 1n << 11n],
  ["Embed Links", 1n << 14n],
  ["Attach Files", 1n << 15n],
  ["Read Message History", 1n << 16n],
  ["Create Public Threads", 1n << 35n],
  ["Send Messages in Threads", 1n << 38n],
];

/**
 * What a member may do in a channel: roles first, then the channel's overwrites for everyone, for roles, for the
 * member.
 */
export function channelPermissions(
  guild: Omit<Guild, "name">,
  channel: Pick<Channel, "permission_overwrites">,
  member_id: string,
  role_ids: readonly string[],
): bigint {
  if (guild.owner_id === member_id) return EVERYTHING;
  const held = [guild.id, ...role_ids];
  const base = guild.roles.reduce((sum, role) => (held.includes(role.id) ? sum | BigInt(role.permissions) : sum), 0n);
  if ((base & ADMINISTRATOR) !== 0n) return EVERYTHING;
  const overwrites = channel.permission_overwrites ?? [];
  const stages = [
    overwrites.filter((one) => one.id === guild.id),
    overwrites.filter((one) => one.type === 0 && role_ids.includes(one.id)),
    overwrites.filter((one) => one.type === 1 && one.id === member_id),
  ];
  let permissions = base;
  for (const stage of stages) {
    for (const { deny } of stage) permissions &= ~BigInt(deny);
    for (const { allow } of stage) permissions |= BigInt(allow);
  }
  return permissions;
}

/** The names of what the bot needs and does not have. */
export function missingPermissions(permissions: bigint): string[] {
  return NEEDED.filter(([, bit]) => (permissions & bit) === 0n).map(([name]) => name);
}
