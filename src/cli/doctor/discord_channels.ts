import type { Config } from "../../config/load.ts";
import type { CheckContext, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";
import { ask } from "./discord_api.ts";
import { channelPermissions, missingPermissions } from "./discord_permissions.ts";
import type { DiscordChannel, DiscordGuild } from "./discord_permissions.ts";

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
  const asked = await ask(context, `/guilds/${guild_id}/channels`);
  const guild = await ask(context, `/guilds/${guild_id}`);
  const member = await ask(context, `/guilds/${guild_id}/members/${bot_id}`);
  for (const answer of [asked, guild, member]) if (!answer.ok) return answer.finding;
  if (!asked.ok || !guild.ok || !member.ok) throw new Error("What was not answered has been told.");
  const { name, ...rights } = guild.body as DiscordGuild & { name: string };
  const { roles } = member.body as { roles: string[] };
  const text = (asked.body as (DiscordChannel & { name: string; type: number })[])
    .filter(({ type }) => TEXT_TYPES.has(type))
    .slice(0, CHANNELS_MAX);
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
  const asked = await ask(context, `/channels/${channel_id}`);
  if (!asked.ok) {
    if (asked.status === null) return asked.finding;
    return failed(part, "The bot does not see it.", "Look at the id, invite the bot, and let it view the channel.");
  }
  const channel = asked.body as DiscordChannel & { guild_id: string; name: string };
  if (foreignGuild(context.config, channel.guild_id)) {
    return failed(
      part,
      `#${channel.name} belongs to another guild than the one that is set.`,
      "Change guild or channels.",
    );
  }
  const guild = await ask(context, `/guilds/${channel.guild_id}`);
  if (!guild.ok) return guild.finding;
  const member = await ask(context, `/guilds/${channel.guild_id}/members/${bot_id}`);
  if (!member.ok) return member.finding;
  const { roles } = member.body as { roles: string[] };
  const missing = missingPermissions(channelPermissions(guild.body as DiscordGuild, channel, bot_id, roles));
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
