import type { Check, CheckContext, Finding } from "./check.ts";
import { failed, ok, warning } from "./check.ts";
import { Application, Commands, Guilds, Me } from "./discord_answers.ts";
import { ask, PORTAL } from "./discord_api.ts";
import { channelFindings } from "./discord_channels.ts";
import { peopleFindings } from "./discord_people.ts";

/** Discord's flags of an application: the intent is granted, or allowed below a hundred guilds. */
const MESSAGE_CONTENT_FLAGS = (1 << 18) | (1 << 19);

/** Whether the bot's token works, what it may read and do, whether its commands are known and its people reachable. */
export const discordCheck: Check = {
  name: "discord",
  async run(context) {
    const { token } = context.config.discord;
    if (token === null) return [ok("Discord", "No token is set: turnstone start brings a practice Discord.")];
    const me = await ask(context, "/users/@me", Me);
    if (!me.ok) return [me.finding];
    const { id, username } = me.body;
    const guilds = await guildsOf(context);
    return [
      ok("Discord token", `The bot is ${username} (${id}).`),
      await intents(context),
      ...guilds.findings,
      ...(await channelFindings(context, guilds.ids, id)),
      await commands(context),
      ...(await peopleFindings(context, guilds.ids)),
    ];
  },
};

async function intents(context: CheckContext): Promise<Finding> {
  const part = "Discord intents";
  const answer = await ask(context, "/applications/@me", Application);
  if (!answer.ok) return answer.finding;
  const { flags = 0 } = answer.body;
  if ((flags & MESSAGE_CONTENT_FLAGS) !== 0) return ok(part, "The bot may read messages.");
  const fix = `Turn on Message Content Intent at ${PORTAL}, under Bot.`;
  return warning(part, "The bot reads only messages that mention it, DMs and commands.", fix);
}

/** The servers that are served, of those in which the bot is. */
async function guildsOf(context: CheckContext): Promise<{ ids: string[]; findings: Finding[] }> {
  const { guild } = context.config.discord;
  const answer = await ask(context, "/users/@me/guilds", Guilds);
  if (!answer.ok) return { ids: [], findings: [answer.finding] };
  const ids = answer.body.map(({ id }) => id);
  const served = guild === null ? ids : ids.filter((id) => id === guild);
  if (served.length > 0) return { ids: served, findings: [] };
  const missing = guild === null ? "The bot is in no server." : `The bot is not in the server ${guild}.`;
  const fix = `Invite it with the link at ${PORTAL}, under OAuth2, with the scopes bot and applications.commands.`;
  return { ids: [], findings: [failed("Discord server", missing, fix)] };
}

/** Whether people find the bot's commands. */
async function commands(context: CheckContext): Promise<Finding> {
  const part = "Discord commands";
  const { guild } = context.config.discord;
  const application = await ask(context, "/applications/@me", Application);
  if (!application.ok) return application.finding;
  const { id } = application.body;
  const answer = await ask(
    context,
    `/applications/${id}${guild === null ? "" : `/guilds/${guild}`}/commands`,
    Commands,
  );
  if (!answer.ok) {
    const fix = "Invite the bot again with the scope applications.commands.";
    return answer.status === null || answer.status === 200
      ? answer.finding
      : failed(part, "The bot may not register commands.", fix);
  }
  const { length } = answer.body;
  if (length > 0) return ok(part, `${length} are registered.`);
  return warning(part, "None are registered yet.", "Start the gateway: it registers them.");
}
