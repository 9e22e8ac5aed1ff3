import { PermissionFlagsBits, PermissionsBitField, RequestMethod, Routes, type Client } from "discord.js";
import type { Clock } from "../../src/lib/clock.ts";
import type { ChannelPlace, Diagnosis } from "../channel_adapter.ts";
import { attempt } from "./failures.ts";

export interface DiagnoseDependencies {
  client: Client<true>;
  clock: Clock;
  /** The only guild whose commands are ours; null: they are global. */
  guild: string | null;
  sees_content: boolean;
}

/** Signed tokens and schedules go wrong beyond this; an answer on its way is quicker. */
const CLOCK_SKEW_MS_MAX = 10_000;

const NEEDED = {
  "View Channel": PermissionFlagsBits.ViewChannel,
  "Send Messages": PermissionFlagsBits.SendMessages,
  "Create Public Threads": PermissionFlagsBits.CreatePublicThreads,
  "Send Messages in Threads": PermissionFlagsBits.SendMessagesInThreads,
  "Read Message History": PermissionFlagsBits.ReadMessageHistory,
  "Attach Files": PermissionFlagsBits.AttachFiles,
  "Embed Links": PermissionFlagsBits.EmbedLinks,
} as const;

/** What the bot needs of Discord, seen from one place. */
export async function diagnose(
  dependencies: DiagnoseDependencies,
  place: ChannelPlace,
  user_id: string,
): Promise<Diagnosis[]> {
  const { sees_content } = dependencies;
  const content: Diagnosis = sees_content
    ? { part: "Message content", says: "I read what people write.", fix: null }
    : {
        part: "Message content",
        says: "I hear only mentions, replies, commands and direct messages.",
        fix: "Switch on Message Content Intent under Bot in the developer portal, then restart me.",
      };
  return [
    await connection(dependencies),
    content,
    ...permissions(dependencies.client, place),
    await commands(dependencies),
    await directMessages(dependencies.client, user_id),
  ];
}

async function connection({ client, clock }: DiagnoseDependencies): Promise<Diagnosis> {
  const answer = await attempt(async () => {
    const response = await client.rest.queueRequest({ method: RequestMethod.Get, fullRoute: Routes.user() });
    return Date.parse(response.headers.get("date") ?? "");
  });
  if (!answer.ok) return { part: "Discord", says: answer.detail, fix: "Look at the network and at the bot's token." };
  const skew_ms = Math.abs(answer.value - clock.now());
  const fix = skew_ms > CLOCK_SKEW_MS_MAX ? "Set this machine's clock, best by NTP." : null;
  const clock_says = fix === null ? "the clock is right" : `the clock is off by ${Math.round(skew_ms / 1000)} s`;
  return { part: "Discord", says: `I am ${client.user.username}, ${clock_says}`, fix };
}

function permissions(client: Client<true>, place: ChannelPlace): Diagnosis[] {
  if (place.kind === "dm") return [];
  const channel = client.channels.cache.get(place.parent_channel_id ?? place.channel_id);
  const part = "Permissions here";
  if (channel === undefined || channel.isDMBased()) {
    return [
      { part, says: "I do not see this channel.", fix: "Let my role view it, under Permissions of the channel." },
    ];
  }
  const mine = channel.permissionsFor(client.user) ?? new PermissionsBitField();
  const missing = Object.entries(NEEDED).flatMap(([name, bit]) => (mine.has(bit) ? [] : [name]));
  if (missing.length === 0) return [{ part, says: "I may do all I need.", fix: null }];
  return [{ part, says: `I lack ${missing.join(", ")}.`, fix: "Grant these to my role in this channel." }];
}

async function commands({ client, guild }: DiagnoseDependencies): Promise<Diagnosis> {
  const { id } = client.application;
  const route = guild === null ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guild);
  const answer = await attempt(async () => (await client.rest.get(route)) as unknown[]);
  const part = "Commands";
  if (!answer.ok) {
    return { part, says: answer.detail, fix: "Invite me again with the scope applications.commands." };
  }
  const { length } = answer.value;
  return {
    part,
    says: `${length} are registered.`,
    fix: length === 0 ? "Restart me; they are registered then." : null,
  };
}

async function directMessages(client: Client<true>, user_id: string): Promise<Diagnosis> {
  const opened = await attempt(() => client.rest.post(Routes.userChannels(), { body: { recipient_id: user_id } }));
  const part = "Direct messages";
  if (opened.ok) return { part, says: "I can open a conversation with you.", fix: null };
  return { part, says: "I cannot write to you.", fix: "Allow direct messages from members of this server." };
}
