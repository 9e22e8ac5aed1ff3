import { StoreError } from "../../store/index.ts";
import { openConfiguredStore } from "../store_access.ts";
import type { CheckContext, Finding } from "./check.ts";
import { ok, warning } from "./check.ts";
import { Member } from "./discord_answers.ts";
import { ask } from "./discord_api.ts";

/** Each costs a request for every server. */
const PEOPLE_MAX = 50;

/**
 * Whether linked people share a server with the bot: Discord lets it write to nobody else. Whether somebody has closed
 * their direct messages can only be seen by writing one.
 */
export async function peopleFindings(context: CheckContext, guild_ids: readonly string[]): Promise<Finding[]> {
  const people = await linkedPeople(context);
  if (people.length === 0 || guild_ids.length === 0) return [];
  const part = "Discord direct messages";
  const unreachable: string[] = [];
  for (const { channel_user_id, username } of people) {
    const meets = await anyOf(guild_ids, async (guild_id) => {
      const answer = await ask(context, `/guilds/${guild_id}/members/${channel_user_id}`, Member);
      return answer.ok || answer.status !== 404;
    });
    if (!meets) unreachable.push(username);
  }
  if (unreachable.length === 0) {
    return [ok(part, `The bot shares a server with each linked person (${people.length}).`)];
  }
  const fix = "Invite them to a server of the bot's, or unlink them there.";
  return [warning(part, `The bot shares no server with ${unreachable.join(", ")} and cannot write to them.`, fix)];
}

async function linkedPeople({ config }: CheckContext): Promise<{ channel_user_id: string; username: string }[]> {
  try {
    const store = await openConfiguredStore(config);
    try {
      const links = await store.channels.listLinks();
      return links.filter(({ channel_type }) => channel_type === "discord").slice(0, PEOPLE_MAX);
    } finally {
      await store.close();
    }
  } catch (error) {
    // What is wrong with the store is another check's to say.
    if (error instanceof StoreError) return [];
    throw error;
  }
}

async function anyOf<Value>(values: readonly Value[], holds: (value: Value) => Promise<boolean>): Promise<boolean> {
  for (const value of values) if (await holds(value)) return true;
  return false;
}
