import { ChannelType, MessageReferenceType, MessageType, type Client } from "discord.js";
import type {
  APIAttachment,
  APIEmbed,
  APIMessage,
  APIUser,
  GatewayGuildMembersChunkDispatchData,
  GatewayMessageCreateDispatchData,
} from "discord.js";
import type { RoleName } from "../config.ts";
import type {
  ChannelPerson,
  ChannelPlace,
  HistoryEntry,
  InboundAttachment,
  InboundMessage,
} from "../channel_adapter.ts";
import { clip } from "../render/defuse.ts";
import { roleOfIds } from "./roles.ts";

/** A message as it comes by the gateway, or from history, where the member is missing. */
export type RawMessage = APIMessage & Partial<Pick<GatewayMessageCreateDispatchData, "guild_id" | "member">>;
type RawMember = GatewayGuildMembersChunkDispatchData["members"][number];

/** What is needed to read messages. */
export interface MessageReader {
  client: Client<true>;
  roles: Readonly<Record<string, RoleName>>;
}

const EMBEDS_MAX = 5;
const EMBED_TEXT_MAX = 1500;
const QUOTE_LENGTH_MAX = 1500;

/**
 * A person's message in all platforms' words; null for what bots, webhooks, the platform and we ourselves wrote
 * (DEVT-11).
 */
export function inboundMessage(reader: MessageReader, raw: RawMessage, place: ChannelPlace): InboundMessage | null {
  if (
    raw.author === undefined ||
    raw.author.bot === true ||
    raw.author.system === true ||
    raw.webhook_id !== undefined
  ) {
    return null;
  }
  if (raw.type !== MessageType.Default && raw.type !== MessageType.Reply) return null;
  const us = reader.client.user.id;
  const reply = raw.type === MessageType.Reply ? raw.referenced_message : null;
  return {
    id: raw.id,
    place,
    author: personOf(reader, raw.author, raw.member, place.guild_id),
    text: readableText(reader, raw.content, raw.mentions, us),
    mentions_us: raw.content.includes(`<@${us}>`) || raw.content.includes(`<@!${us}>`),
    reply_to:
      reply === null || reply === undefined
        ? null
        : {
            message_id: reply.id,
            author_name: nameOf(reply.author),
            text: clip(
              readableText(reader, reply.content || textOfComponents(reply.components), reply.mentions, us),
              QUOTE_LENGTH_MAX,
            ),
            ours: reply.author.id === us,
          },
    extras: extrasOf(reader, raw),
    attachments: [...raw.attachments, ...forwardsOf(raw).flatMap((forward) => forward.attachments)].map(
      inboundAttachment,
    ),
    edited_at: raw.edited_timestamp,
    thread_id: raw.thread?.id ?? null,
  };
}

/** One entry of a channel's history. */
export function historyEntry(reader: MessageReader, raw: RawMessage, place: ChannelPlace): HistoryEntry {
  return {
    message_id: raw.id,
    message: inboundMessage(reader, raw, place),
    ours: raw.author?.id === reader.client.user.id,
    reply_to_id: raw.message_reference?.message_id ?? null,
  };
}

/** Who somebody is, and what the person's roles allow; `unknown` where the event does not name them. */
export function personOf(
  reader: MessageReader,
  user: APIUser,
  member: Pick<RawMember, "nick" | "roles"> | Partial<RawMember> | null | undefined,
  guild_id: string | null,
): ChannelPerson {
  const person = { id: user.id, name: member?.nick ?? nameOf(user) };
  if (Object.keys(reader.roles).length === 0) return { ...person, role: null };
  if (guild_id === null || member?.roles === undefined) return { ...person, role: "unknown" };
  return { ...person, role: roleOfIds(reader.roles, [...member.roles, guild_id]) };
}

export function inboundAttachment(attachment: APIAttachment): InboundAttachment {
  return {
    filename: attachment.filename,
    url: attachment.url,
    media_type: attachment.content_type ?? null,
    size: attachment.size,
  };
}

/** In a direct message there is no guild; its place needs no look-up. */
export function directPlace(raw: RawMessage & { channel_type?: ChannelType }): ChannelPlace | null {
  if (raw.guild_id !== undefined || (raw.channel_type !== undefined && raw.channel_type !== ChannelType.DM)) {
    return null;
  }
  return {
    channel_id: raw.channel_id,
    kind: "dm",
    name: "",
    guild_id: null,
    parent_channel_id: null,
    is_archived: false,
  };
}

function nameOf(user: APIUser): string {
  return user.global_name ?? user.username;
}

/** Mentions by name, our own taken out, custom emoji by their word. */
function readableText(reader: MessageReader, content: string, mentioned: readonly APIUser[], us: string): string {
  const names = new Map(mentioned.map((user) => [user.id, nameOf(user)]));
  return content
    .replace(/<@!?(\d+)>/g, (whole, id: string) => (id === us ? "" : `@${names.get(id) ?? whole}`))
    .replace(/<#(\d+)>/g, (whole, id: string) => {
      const channel = reader.client.channels.cache.get(id);
      return channel !== undefined && "name" in channel && channel.name !== null ? `#${channel.name}` : whole;
    })
    .replace(/<a?(:\w+:)\d+>/g, "$1")
    .trim();
}

function forwardsOf(raw: RawMessage): { content: string; attachments: APIAttachment[]; embeds: APIEmbed[] }[] {
  if (raw.message_reference?.type !== MessageReferenceType.Forward) return [];
  return (raw.message_snapshots ?? []).map(({ message }) => ({
    content: message.content,
    attachments: message.attachments,
    embeds: message.embeds,
  }));
}

/** What is in a message beside its text, put into words (DEVT-12). */
function extrasOf(reader: MessageReader, raw: RawMessage): string[] {
  const us = reader.client.user.id;
  const forwards = forwardsOf(raw).map((forward) =>
    [
      "[Forwarded message]",
      readableText(reader, forward.content, [], us),
      ...forward.embeds.slice(0, EMBEDS_MAX).map(embedText),
    ]
      .filter((line) => line !== "")
      .join("\n"),
  );
  const stickers = (raw.sticker_items ?? []).map((sticker) => `[Sticker: ${sticker.name}]`);
  // The preview of a link that stands in the text says nothing new to somebody who can open links.
  const embeds = raw.embeds
    .filter((embed) => embed.url === undefined || !raw.content.includes(embed.url))
    .slice(0, EMBEDS_MAX)
    .map(embedText);
  const answers = raw.poll?.answers.map((answer) => answer.poll_media.text ?? "").join(" / ") ?? "";
  const poll = raw.poll === undefined ? [] : [`[Poll: ${raw.poll.question.text ?? ""}: ${answers}]`];
  return [...forwards, ...stickers, ...embeds, ...poll].filter((text) => text !== "");
}

function embedText(embed: APIEmbed): string {
  const fields = (embed.fields ?? []).map((field) => `${field.name}: ${field.value}`);
  const lines = [embed.title, embed.description, ...fields, embed.url].filter(
    (line) => line !== undefined && line !== "",
  );
  return lines.length === 0 ? "" : clip(`[Embed] ${lines.join("\n")}`, EMBED_TEXT_MAX);
}

/** The words of a card, for a reply to one. */
function textOfComponents(components: APIMessage["components"]): string {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("content" in value && typeof value.content === "string") texts.push(value.content);
    if ("components" in value && Array.isArray(value.components)) for (const inner of value.components) walk(inner);
  };
  for (const component of components ?? []) walk(component);
  return texts.join("\n");
}
