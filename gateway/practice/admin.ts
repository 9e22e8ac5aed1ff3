import { publishChannel } from "./events.ts";
import { removeMessage, storeMessage } from "./messages.ts";
import type { Channel, Message, World } from "./model.ts";
import { PERMISSION, canView } from "./permissions.ts";
import type { PermissionName } from "./permissions.ts";
import { findChannel, findUser, refId } from "./people/find.ts";
import type { Ref } from "./people/find.ts";
import { removeChannel } from "./rest/channels.ts";
import { addChannel, addUser, joinGuild } from "./seed.ts";
import type { PracticeSeed } from "./seed.ts";
import { setArchived } from "./threads.ts";
import { newSnowflake } from "./world.ts";

/** What an administrator of the guild changes. */
export interface Admin {
  /** Grants or takes rights in a channel, in place of earlier rules, from a person or a role such as `@everyone`. */
  setPermissions(
    channel: Ref,
    target: Ref,
    rule: { allow?: readonly PermissionName[]; deny?: readonly PermissionName[] },
  ): void;
  archive(thread: Ref, options?: { locked?: boolean }): void;
  unarchive(thread: Ref): void;
  deleteChannel(channel: Ref): void;
  deleteMessage(message: Ref): void;
  /** Makes a message seem older; its id stays. */
  ageMessage(message: Ref, by_ms: number): void;
  renameChannel(channel: Ref, name: string): void;
  addChannel(channel: PracticeSeed["channels"][number]): Channel;
  /** Adds a member, by default a person; answers the id. */
  addMember(member: { name: string; bot?: boolean; roles?: readonly string[] }): string;
  setRoles(person: Ref, roles: readonly string[]): void;
  removeMember(person: Ref): void;
  /** A message that a webhook posts. */
  webhookSays(channel: Ref, name: string, content: string): Message;
}

export function createAdmin(world: World): Admin {
  return { ...channelAdmin(world), ...memberAdmin(world) };
}

type ChannelPart = Omit<Admin, "addMember" | "setRoles" | "removeMember" | "webhookSays">;

function channelAdmin(world: World): ChannelPart {
  return {
    setPermissions(ref, target, rule) {
      const channel = findChannel(world, ref);
      const saw = canView(world, channel, world.bot_id);
      const { id, type } = overwriteTarget(world, target);
      channel.overwrites = channel.overwrites.filter((one) => one.id !== id);
      channel.overwrites.push({ id, type, allow: bitsOf(rule.allow ?? []), deny: bitsOf(rule.deny ?? []) });
      // Nobody is told of a channel that they cannot see any more; they are told that it went.
      if (saw && !canView(world, channel, world.bot_id)) publishHidden(world, channel);
      else publishChannel(world, "UPDATE", channel);
    },
    archive(ref, options = {}) {
      setArchived(world, findChannel(world, ref), { archived: true, ...options });
    },
    unarchive(ref) {
      setArchived(world, findChannel(world, ref), { archived: false, locked: false });
    },
    deleteChannel: (ref) => removeChannel(world, findChannel(world, ref)),
    deleteMessage(ref) {
      const message = findMessage(world, ref);
      if (message !== undefined) removeMessage(world, message);
    },
    ageMessage(ref, by_ms) {
      const message = findMessage(world, ref);
      if (message === undefined) throw new Error("There is no such message.");
      message.created_at -= by_ms;
    },
    renameChannel(ref, name) {
      const channel = findChannel(world, ref);
      channel.name = name;
      publishChannel(world, "UPDATE", channel);
    },
    addChannel(given) {
      const channel = addChannel(world, onlyGuildId(world), given);
      publishChannel(world, "CREATE", channel);
      return channel;
    },
  };
}

function findMessage(world: World, ref: Ref): Message | undefined {
  for (const history of world.messages.values()) {
    const message = history.get(refId(ref));
    if (message !== undefined) return message;
  }
  return undefined;
}

function publishHidden(world: World, channel: Channel): void {
  const data = { id: channel.id, type: channel.type, guild_id: channel.guild_id, name: channel.name };
  world.events.emit({ name: "CHANNEL_DELETE", data, intent: 1, private_message: null });
  world.changes.emit({ kind: "channel", channel_id: channel.id });
}

function memberAdmin(world: World): Omit<Admin, keyof ChannelPart> {
  return {
    addMember({ name, bot = false, roles = [] }) {
      const id = addUser(world, { name, color: 0x6f7f8f, bot });
      joinGuild(
        world,
        onlyGuildId(world),
        id,
        roles.map((role) => roleId(world, role)),
      );
      world.changes.emit({ kind: "guild" });
      return id;
    },
    setRoles(person, roles) {
      const member = world.guilds.get(onlyGuildId(world))?.members.get(findUser(world, person).id);
      if (member === undefined) throw new Error("This person is not in the guild.");
      member.role_ids = roles.map((role) => roleId(world, role));
      world.changes.emit({ kind: "guild" });
    },
    removeMember(person) {
      world.guilds.get(onlyGuildId(world))?.members.delete(findUser(world, person).id);
      world.changes.emit({ kind: "guild" });
    },
    webhookSays(ref, name, content) {
      const channel = findChannel(world, ref);
      return storeMessage(world, { channel, author_id: newSnowflake(world), webhook_name: name, content });
    },
  };
}

function onlyGuildId(world: World): string {
  const id = [...world.guilds.keys()][0];
  if (id === undefined) throw new Error("The seed has no guild.");
  return id;
}

function overwriteTarget(world: World, target: Ref): { id: string; type: 0 | 1 } {
  for (const guild of world.guilds.values()) {
    const role = [...guild.roles.values()].find((one) => one.id === refId(target) || one.name === refId(target));
    // The bot's own role has the bot's name: a rule for that name means the bot itself.
    if (role !== undefined && role.name !== world.users.get(world.bot_id)?.username) return { id: role.id, type: 0 };
  }
  return { id: findUser(world, target).id, type: 1 };
}

/** The id of a role by name. */
export function roleId(world: World, name: string): string {
  for (const guild of world.guilds.values()) {
    for (const role of guild.roles.values()) if (role.name === name || role.id === name) return role.id;
  }
  throw new Error(`There is no role ${name}.`);
}

function bitsOf(names: readonly PermissionName[]): bigint {
  return names.reduce((all, name) => all | PERMISSION[name], 0n);
}
