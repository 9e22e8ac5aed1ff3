import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import { walkComponents } from "./check/components.ts";
import type { Channel, World } from "./model.ts";
import { may } from "./permissions.ts";

export interface Mentions {
  users: string[];
  roles: string[];
  everyone: boolean;
}

/** Who a text mentions, as far as `allowed_mentions` lets it; without one, everything that is written. */
export function mentionsOf(
  world: World,
  input: {
    channel: Channel;
    author_id: string;
    text: string;
    allowed: JsonValue | undefined;
    replied_to: string | null;
  },
): Mentions {
  const { channel, text } = input;
  const allowed = allowance(input.allowed);
  const guild = world.guilds.get(channel.guild_id ?? "");
  const written = idsIn(text, /<@!?(\d+)>/g).filter((id) => world.users.has(id));
  const users = written.filter((id) => allowed.users(id));
  if (input.replied_to !== null && allowed.replied_user && !users.includes(input.replied_to)) {
    users.push(input.replied_to);
  }
  const everyone = /@(everyone|here)\b/.test(text) && allowed.everyone;
  return {
    users,
    roles: idsIn(text, /<@&(\d+)>/g).filter((id) => guild?.roles.has(id) === true && allowed.roles(id)),
    everyone: everyone && may(world, channel, input.author_id, "mention_everyone"),
  };
}

/** Every text that can ping: the content and all text displays. */
export function pingingText(content: string, components: readonly JsonValue[]): string {
  const texts = [content];
  walkComponents(components, (component) => {
    if (component["type"] === 10 && typeof component["content"] === "string") texts.push(component["content"]);
  });
  return texts.join("\n");
}

interface Allowance {
  users(id: string): boolean;
  roles(id: string): boolean;
  everyone: boolean;
  replied_user: boolean;
}

function allowance(value: JsonValue | undefined): Allowance {
  if (!isJsonObject(value)) {
    return { users: () => true, roles: () => true, everyone: true, replied_user: true };
  }
  const parse = Array.isArray(value["parse"]) ? value["parse"] : [];
  const list = (object: JsonObject, key: string): JsonValue[] => (Array.isArray(object[key]) ? object[key] : []);
  return {
    users: (id) => parse.includes("users") || list(value, "users").includes(id),
    roles: (id) => parse.includes("roles") || list(value, "roles").includes(id),
    everyone: parse.includes("everyone"),
    replied_user: value["replied_user"] === true,
  };
}

function idsIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap((match) => match[1] ?? []))];
}
