import type { Config } from "../../config/load.ts";
import type { CheckContext, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";
import { Channel, Channels, Guild, Member } from "./discord_answers.ts";
import { ask } from "./discord_api.ts";
import { channelPermissions, missingPermissions } from "./discord_permissions.ts";

/** A server has hundreds of channels at most; more than these are not looked at. */
const CHANNELS_MAX = 100;
/** Text and announcement channels, in which a mention can open a thread (Discord's documentation, "Channel Types"). */
const TEXT_TYPES = new Set([0, 5]);

/** Whether the bot may do what it needs in the channels that are named, or in every text channel of its servers. */
export async function channelFindings(
  context: CheckContext,
  guild_ids: readonly string[],
  bot_id: string,
): Promise<Finding[]> {
  const { channels } = context.config.discord;
  if (channels.length > 0) {
    const findings: Finding[] = [];
    for (const channel of channels) findings.push(await channelFinding(context, channel, bot_id));
    return findings;
  }
  const findings: Finding[] = [];
  for (const guild_id of guild_ids) findings.push(await guildFinding(context, guild_id, bot_id));
  return findings;
}

async function guildFinding(context: CheckContext, guild_id: string, bot_id: string): Promise<Finding> {
  const asked = await ask(context, `/guilds/${guild_id}/channels`, Channels);
  if (!asked.ok) return asked.finding;
  const guild = await ask(context, `/guilds/${guild_id}`, Guild);
  if (!guild.ok) return guild.finding;
  const member = await ask(context, `/guilds/${guild_id}/members/${bot_id}`, Member);
  if (!member.ok) return member.finding;
  const { name, ...rights } = guild.body;
  const { roles } = member.body;
  const text = asked.body.filter(({ type }) => TEXT_TYPES.has(type)).slice(0, CHANNELS_MAX);
  const lacking = text.flatMap((channel) => {
    const missing = missingPermissions(channelPermissions(rights, channel, bot_id, roles));
    return missing.length === 0 ? [] : [`#${channel.name} (${missing.join(", ")})`];
  });
  const part = `Discord server ${name}`;
  if (lacking.length === 0) return ok(part, `The bot may do what it needs in all ${text.length} text channels.`);
  const fix = "Grant these to the bot's role where it is to work.";
  return lacking.length === text.length
    ? failed(part, `There is no channel in which the bot may do what it needs: ${lacking.join("; ")}.`, fix)
    : warning(part, `The bot lacks rights in ${lacking.join("; ")}.`, fix);
}

async function channelFinding(context: CheckContext, channel_id: string, bot_id: string): Promise<Finding> {
  const part = `Discord channel ${channel_id}`;
  const asked = await ask(context, `/channels/${channel_id}`, Channel);
  if (!asked.ok) {
    if (asked.status === null || asked.status === 200) return asked.finding;
    return failed(part, "The bot does not see it.", "Look at the id, invite the bot, and let it view the channel.");
  }
  const channel = asked.body;
  const { guild_id } = channel;
  if (guild_id === undefined) {
    return failed(part, "It is a conversation of its own, not a channel of a server.", "Name channels of a server.");
  }
  if (foreignGuild(context.config, guild_id)) {
    return failed(
      part,
      `#${channel.name} belongs to another guild than the one that is set.`,
      "Change guild or channels.",
    );
  }
  const guild = await ask(context, `/guilds/${guild_id}`, Guild);
  if (!guild.ok) return guild.finding;
  const member = await ask(context, `/guilds/${guild_id}/members/${bot_id}`, Member);
  if (!member.ok) return member.finding;
  const missing = missingPermissions(channelPermissions(guild.body, channel, bot_id, member.body.roles));
  if (missing.length === 0) return ok(part, `The bot may do what it needs in #${channel.name}.`);
  return failed(
    part,
    `In #${channel.name} the bot lacks: ${missing.join(", ")}.`,
    "Grant these to the bot's role there.",
  );
}

function foreignGuild(config: Config, guild_id: string): boolean {
  return config.discord.guild !== null && config.discord.guild !== guild_id;
}
