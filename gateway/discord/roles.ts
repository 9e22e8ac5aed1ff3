import { Routes, type Client } from "discord.js";
import { ROLE_NAMES, type RoleName } from "../config.ts";
import type { ChannelPerson, ChannelPlace } from "../channel_adapter.ts";
import { createRecent } from "../recent.ts";
import { attempt } from "./failures.ts";

/** What a person's roles allow, as far as an event says it; `unknown` where Discord must be asked. */
export type Role = ChannelPerson["role"];

export interface RoleDependencies {
  client: Client<true>;
  /** Role ids and what they let their holders do; empty: roles decide nothing. */
  roles: Readonly<Record<string, RoleName>>;
  /** The only guild that is served; null for all. */
  guild: string | null;
  /** Milliseconds of a clock that people cannot set. */
  now(): number;
}

/** For so long a role that was taken away may still count where an event does not name the roles. */
const ANSWER_LIFETIME_MS = 30_000;
const PEOPLE_MAX = 2000;

/** What a list of role ids allows: the most that one of them does. The guild's own id is the role of everyone. */
export function roleOfIds(roles: Readonly<Record<string, RoleName>>, held: readonly string[]): RoleName | "none" {
  const ranks = held.flatMap((id) => (Object.hasOwn(roles, id) ? [ROLE_NAMES.indexOf(roles[id] ?? "talk")] : []));
  return ranks.length === 0 ? "none" : (ROLE_NAMES[Math.max(...ranks)] ?? "none");
}

/**
 * Finds what a person may whose event names no roles. In a guild that is a message from history; in a direct message it
 * is everyone, and the most that one of the served guilds allows counts. Answers `unknown`, never more than the truth,
 * where Discord does not say it before the signal.
 */
export function createRoleReader(dependencies: RoleDependencies): {
  find: (user_id: string, place: ChannelPlace, signal: AbortSignal) => Promise<Role>;
} {
  const { client, roles, guild } = dependencies;
  const now = (): number => dependencies.now();
  const known = createRecent<{ held: readonly string[]; until: number }>(PEOPLE_MAX);

  const heldIn = async (guild_id: string, user_id: string, signal: AbortSignal): Promise<readonly string[] | null> => {
    const key = `${guild_id}:${user_id}`;
    const before = known.get(key);
    if (before !== undefined && before.until > now()) return before.held;
    const member = await attempt(
      async () => (await client.rest.get(Routes.guildMember(guild_id, user_id), { signal })) as { roles: string[] },
    );
    // Who is no member of the guild holds nothing there, not even the role of everyone.
    if (!member.ok && member.reason !== "channel_gone") return null;
    const held = member.ok ? [...member.value.roles, guild_id] : [];
    known.set(key, { held, until: now() + ANSWER_LIFETIME_MS });
    return held;
  };

  /** Guilds in which a role with a meaning can be held, so that others are not asked. */
  const guildsOf = (place: ChannelPlace): string[] => {
    if (place.guild_id !== null) return [place.guild_id];
    const served = guild === null ? [...client.guilds.cache.keys()] : [guild];
    return served.filter((id) => {
      const known_guild = client.guilds.cache.get(id);
      // Of one that is out of reach it is not known which roles it has.
      if (known_guild === undefined || !known_guild.available) return true;
      return Object.keys(roles).some((role) => known_guild.roles.cache.has(role));
    });
  };

  return {
    async find(user_id, place, signal) {
      const held = await Promise.all(guildsOf(place).map((guild_id) => heldIn(guild_id, user_id, signal)));
      return held.includes(null)
        ? "unknown"
        : roleOfIds(
            roles,
            held.flatMap((ids) => ids ?? []),
          );
    },
  };
}
