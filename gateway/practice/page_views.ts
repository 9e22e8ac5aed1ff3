import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { avatarHash, messagePayload } from "./payloads.ts";
import type { Channel, Command, Message, User, World } from "./model.ts";
import { canView } from "./permissions.ts";
import { offeredCommands } from "./people/commands.ts";
import { findUser, visibleChannel } from "./people/find.ts";
import { requireCanSend } from "./messages.ts";
import { DiscordFailure } from "./failure.ts";
import { directChannel } from "./threads.ts";
import { displayName, visibleTo } from "./world.ts";

/** Messages that the page shows at once; older ones are a matter for the real thing. */
const MESSAGES_SHOWN = 200;

/** Who and where: everything beside the messages, as one person sees it. Null means the first person. */
export function stateView(world: World, as: string | null): JsonObject {
  const people = [...world.users.values()].filter((user) => !user.bot);
  const me = people.find((user) => user.id === as) ?? people[0];
  if (me === undefined) throw new Error("The seed has no people.");
  const guild = [...world.guilds.values()][0];
  const visible = [...world.channels.values()].filter((channel) => canView(world, channel, me.id));
  return {
    me: me.id,
    guild: guild?.name ?? "",
    bot: userView(world, findUser(world, world.bot_id)),
    people: people.map((user) => userView(world, user)),
    roles: [...(guild?.roles.values() ?? [])].map((role) => ({ id: role.id, name: role.name })),
    dm: channelSummary(directChannel(world, me.id)),
    channels: visible
      .filter((channel) => channel.guild_id !== null && channel.thread === null)
      .map((channel) => ({
        ...channelSummary(channel),
        threads: visible.filter((one) => one.parent_id === channel.id).map(channelSummary),
      })),
  };
}

function userView(world: World, user: User): JsonObject {
  const role = [...world.guilds.values()].flatMap((guild) => {
    const ids = guild.members.get(user.id)?.role_ids ?? [];
    return ids.flatMap((id) => guild.roles.get(id)?.name ?? []);
  });
  return {
    id: user.id,
    name: user.global_name,
    username: user.username,
    bot: user.bot,
    avatar: `/cdn/avatars/${user.id}/${avatarHash(user)}.svg`,
    role: role[0] ?? "",
  };
}

function channelSummary(channel: Channel): JsonObject {
  return {
    id: channel.id,
    name: channel.name,
    type: channel.type,
    topic: channel.topic,
    parent_id: channel.parent_id,
    last_message_id: channel.last_message_id,
    archived: channel.thread?.archived ?? false,
    locked: channel.thread?.locked ?? false,
  };
}

/** A channel with its messages, as one person sees it. Throws `NotPossible` for a hidden one. */
export function channelView(world: World, channelId: string, as: string): JsonObject {
  const user = findUser(world, as);
  const channel = visibleChannel(world, channelId, user.id);
  return {
    ...channelSummary(channel),
    closed: closedReason(world, channel, user),
    typing: typingNames(world, channel, user),
    commands: offeredCommands(world, channel, user.id).map(commandView),
    messages: visibleTo(world, channel.id, user.id)
      .slice(-MESSAGES_SHOWN)
      .map((message) => messageView(world, channel, message)),
  };
}

function messageView(world: World, channel: Channel, message: Message): JsonObject {
  return {
    ...messagePayload(world, message),
    name: message.webhook_name ?? displayName(world, message.author_id, channel.guild_id),
    ephemeral: message.ephemeral_for !== null,
  };
}

function commandView(command: Command): JsonValue {
  return {
    id: command.id,
    type: command.type,
    name: command.name,
    description: command.body["description"] ?? "",
    options: command.body["options"] ?? [],
  };
}

/** Why this person cannot write here, in words; null when they can. */
function closedReason(world: World, channel: Channel, user: User): string | null {
  if (channel.type === 15) return "A forum has posts only. Open one with the button above.";
  try {
    requireCanSend(world, channel, user.id);
    return null;
  } catch (error) {
    if (!(error instanceof DiscordFailure)) throw error;
    return channel.thread?.locked === true ? "This thread is locked." : "You may not write here.";
  }
}

function typingNames(world: World, channel: Channel, user: User): string[] {
  return [...world.typing]
    .filter(([key, mark]) => key.startsWith(`${channel.id}:`) && mark.until > world.now() && mark.user_id !== user.id)
    .map(([, mark]) => displayName(world, mark.user_id, channel.guild_id));
}
