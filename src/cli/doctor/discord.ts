import type { Config } from "../../config/load.ts";
import type { Check, CheckContext, Finding } from "./check.ts";
import { failed, fetchJson, ok, warning } from "./check.ts";
import { channelPermissions, missingPermissions } from "./discord_permissions.ts";
import type { DiscordChannel, DiscordGuild } from "./discord_permissions.ts";

/** Discord's flags of an application: the intent is granted, or allowed below a hundred guilds. */
const MESSAGE_CONTENT_FLAGS = (1 << 18) | (1 << 19);

const PORTAL = "https://discord.com/developers/applications";

/** Whether the bot's token works, what it may read, and what it may do in the channels that are named. */
export const discordCheck: Check = {
  name: "discord",
  async run(context) {
    const { token } = context.config.discord;
    if (token === null) return [ok("Discord", "No token is set: turnstone start brings a practice Discord.")];
    const me = await ask(context, "/users/@me");
    if (!me.ok) return [me.finding];
    const { id, username } = me.body as { id: string; username: string };
    const findings = [ok("Discord token", `The bot is ${username} (${id}).`), await intents(context)];
    for (const channel of context.config.discord.channels) findings.push(await channelFinding(context, channel, id));
    return findings;
  },
};

type Asked = { ok: true; body: unknown } | { ok: false; status: number | null; finding: Finding };

async function ask({ config, signal }: CheckContext, path: string): Promise<Asked> {
  const { api, token } = config.discord;
  const answer = await fetchJson(`${api}/v10${path}`, signal, { authorization: `Bot ${token}` });
  if (!answer.ok) {
    const finding = failed(
      "Discord",
      `${api} does not answer (${answer.why}).`,
      "Look at the network and at [discord] api.",
    );
    return { ok: false, status: null, finding };
  }
  if (answer.status === 200) return { ok: true, body: answer.body };
  const finding =
    answer.status === 401
      ? failed("Discord token", "Discord refuses the token.", `Make a new one at ${PORTAL}, under Bot.`)
      : failed(
          "Discord",
          `Discord answers ${answer.status} to ${path}.`,
          "Look at the bot's invitation and its rights.",
        );
  return { ok: false, status: answer.status, finding };
}

async function intents(context: CheckContext): Promise<Finding> {
  const part = "Discord intents";
  const answer = await ask(context, "/applications/@me");
  if (!answer.ok) return answer.finding;
  const flags = (answer.body as { flags?: number }).flags ?? 0;
  if ((flags & MESSAGE_CONTENT_FLAGS) !== 0) return ok(part, "The bot may read messages.");
  const fix = `Turn on Message Content Intent at ${PORTAL}, under Bot.`;
  return warning(part, "The bot reads only messages that mention it, DMs and commands.", fix);
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
