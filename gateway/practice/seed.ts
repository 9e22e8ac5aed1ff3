import type { Channel, ChannelType, World } from "./model.ts";
import { CHANNEL_TYPE } from "./model.ts";
import { MEMBER_PERMISSIONS, PERMISSION } from "./permissions.ts";
import { emptyChannel } from "./threads.ts";
import { newSnowflake } from "./world.ts";

/** What a practice Discord begins with. Names are unique within their list; ids are made. */
export interface PracticeSeed {
  guild: string;
  people: { name: string; color: number; roles?: string[]; bot?: boolean }[];
  roles: { name: string; color: number; permissions?: bigint }[];
  channels: { name: string; type: "text" | "voice" | "forum" | "announcement"; topic?: string; tags?: string[] }[];
  /** The bot's username. The first person owns the guild. */
  bot: string;
}

/** One guild with three people, the bot, two text channels, a forum and a voice channel. */
export const DEFAULT_SEED: PracticeSeed = {
  guild: "Practice",
  people: [
    { name: "Ada", color: 0xe0795f, roles: ["admin"] },
    { name: "Ben", color: 0x4fa3c7, roles: ["approver"] },
    { name: "Cleo", color: 0x8f7fd6 },
  ],
  roles: [
    { name: "admin", color: 0xe0795f, permissions: PERMISSION.manage_guild | PERMISSION.manage_channels },
    { name: "approver", color: 0x4fa3c7 },
  ],
  channels: [
    { name: "general", type: "text", topic: "Mention @turnstone with a task to begin." },
    { name: "random", type: "text" },
    { name: "ideas", type: "forum", tags: ["open", "done"] },
    { name: "lounge", type: "voice" },
  ],
  bot: "turnstone",
};

/** What the bot may do: everything of a member, and its own threads and pins. */
const BOT_PERMISSIONS = MEMBER_PERMISSIONS | PERMISSION.manage_threads | PERMISSION.pin_messages;

/** The bot's id comes first, since the world is made with it. */
export function seedWorld(world: World, seed: PracticeSeed): void {
  const guildId = newSnowflake(world);
  addUser(world, { id: world.bot_id, name: seed.bot, color: 0x5c8f6b, bot: true });
  const people = seed.people.map((person) => ({ ...person, id: addUser(world, person) }));
  const roles = new Map([["@everyone", guildId]]);
  for (const role of seed.roles) roles.set(role.name, newSnowflake(world));
  const botRole = newSnowflake(world);
  world.guilds.set(guildId, {
    id: guildId,
    name: seed.guild,
    owner_id: people[0]?.id ?? world.bot_id,
    roles: new Map(
      [
        { id: guildId, name: "@everyone", permissions: MEMBER_PERMISSIONS, position: 0, color: 0 },
        { id: botRole, name: seed.bot, permissions: BOT_PERMISSIONS, position: 1, color: 0x5c8f6b },
        ...seed.roles.map((role, index) => ({
          id: roles.get(role.name) ?? guildId,
          name: role.name,
          permissions: role.permissions ?? 0n,
          position: index + 2,
          color: role.color,
        })),
      ].map((role) => [role.id, role]),
    ),
    members: new Map(),
  });
  joinGuild(world, guildId, world.bot_id, [botRole]);
  for (const person of people) {
    joinGuild(
      world,
      guildId,
      person.id,
      (person.roles ?? []).flatMap((name) => roles.get(name) ?? []),
    );
  }
  for (const channel of seed.channels) addChannel(world, guildId, channel);
}

/** A new user; answers the id. */
export function addUser(world: World, user: { id?: string; name: string; color: number; bot?: boolean }): string {
  const id = user.id ?? newSnowflake(world);
  world.users.set(id, {
    id,
    username: user.name.toLowerCase().replaceAll(/[^a-z0-9_.]/g, "_"),
    global_name: user.name,
    color: user.color,
    bot: user.bot === true,
    dms_closed: false,
  });
  return id;
}

export function joinGuild(world: World, guildId: string, userId: string, roleIds: string[]): void {
  world.guilds
    .get(guildId)
    ?.members.set(userId, { user_id: userId, nick: null, role_ids: roleIds, joined_at: world.now() });
}

/** A new channel of a guild. */
export function addChannel(world: World, guildId: string, channel: PracticeSeed["channels"][number]): Channel {
  const siblings = [...world.channels.values()].filter((one) => one.guild_id === guildId && one.thread === null);
  const made: Channel = {
    ...emptyChannel(newSnowflake(world), TYPES[channel.type], channel.name),
    guild_id: guildId,
    topic: channel.topic ?? null,
    position: siblings.length,
    tags: (channel.tags ?? []).map((name) => ({ id: newSnowflake(world), name })),
  };
  world.channels.set(made.id, made);
  return made;
}

const TYPES: Readonly<Record<PracticeSeed["channels"][number]["type"], ChannelType>> = {
  text: CHANNEL_TYPE.text,
  voice: CHANNEL_TYPE.voice,
  forum: CHANNEL_TYPE.forum,
  announcement: CHANNEL_TYPE.announcement,
};
