import { Routes, SnowflakeUtil, type Client } from "discord.js";
import type { APIMessage } from "discord.js";
import type { Clock } from "../../src/lib/clock.ts";
import type { Log } from "../../src/lib/log.ts";
import type {
  ChannelAdapter,
  ChannelHandlers,
  ChannelResult,
  InboundAttachment,
  PostOptions,
} from "../channel_adapter.ts";
import type { GatewaySettings } from "../config.ts";
import type { View, ViewFile } from "../render/view.ts";
import { registerCommands } from "./commands.ts";
import { diagnose } from "./diagnose.ts";
import { attempt } from "./failures.ts";
import { listen } from "./listen.ts";
import { historyEntry, type MessageReader, type RawMessage } from "./messages.ts";
import { payloadOf } from "./payload.ts";
import { findPlace, readableChannels } from "./places.ts";
import { createRoleReader } from "./roles.ts";

export interface AdapterDependencies {
  client: Client<true>;
  settings: GatewaySettings["discord"];
  clock: Clock;
  log: Log;
  sees_content: boolean;
}

/** Discord asks for at most this many messages of a history at once. */
const HISTORY_PAGE_MAX = 100;
const DOWNLOAD_TIMEOUT_MS = 60_000;

/** Discord as a chat platform. Events are told to the handlers from the moment `start` is called. */
export function createDiscordAdapter(dependencies: AdapterDependencies): {
  adapter: ChannelAdapter;
  start(handlers: ChannelHandlers): void;
} {
  const { client, settings, log, clock, sees_content } = dependencies;
  const reader: MessageReader = { client, roles: settings.roles };
  const roles = createRoleReader({ ...settings, client, now: () => performance.now() });
  const adapter: ChannelAdapter = {
    channel_type: "discord",
    ...messageRequests(client),
    ...threadRequests(client, settings.thread_auto_archive_minutes),
    place: (channel_id) => findPlace(client, channel_id),
    async withRole(person, place, signal) {
      return person.role === "unknown" ? { ...person, role: await roles.find(person.id, place, signal) } : person;
    },
    hasNewer(channel_id, after) {
      const channel = client.channels.cache.get(channel_id);
      if (channel === undefined || !("lastMessageId" in channel) || !channel.lastMessageId) return "unknown";
      return BigInt(channel.lastMessageId) > BigInt(after) ? "yes" : "no";
    },
    async history(channel_id, after, limit) {
      const place = await findPlace(client, channel_id);
      if (!place.ok) return place;
      const messages = await readHistory(client, channel_id, after, limit);
      return messages.ok
        ? { ok: true, value: messages.value.map((raw) => historyEntry(reader, raw, place.value)) }
        : messages;
    },
    openChannels: () => readableChannels(client),
    download,
    async registerCommands(commands) {
      const changed = await registerCommands(client, settings.guild, commands);
      log.info("commands.registered", { changed, count: commands.length });
    },
    diagnose: (place, user_id) => diagnose({ client, clock, sees_content, guild: settings.guild }, place, user_id),
    mention: (user_id) => `<@${user_id}>`,
    idAt: (milliseconds) =>
      SnowflakeUtil.generate({ timestamp: milliseconds, increment: 0n, workerId: 0n, processId: 0n }).toString(),
    close: () => client.destroy(),
  };
  const post = async (channel_id: string, view: View): Promise<void> => void (await adapter.post(channel_id, view));
  const postPrivately = async (user_id: string, view: View): Promise<void> => {
    const dm = await adapter.openDm(user_id);
    if (dm.ok) await post(dm.value.channel_id, view);
  };
  return { adapter, start: (handlers) => listen({ ...dependencies, reader, handlers, post, postPrivately }) };
}

function messageRequests(
  client: Client<true>,
): Pick<ChannelAdapter, "post" | "edit" | "remove" | "openDm" | "showTyping"> {
  const { rest } = client;
  return {
    post(channel_id, view, options: PostOptions = {}) {
      const { body, files } = payloadOf(view);
      const nonce = options.nonce === undefined ? {} : { nonce: options.nonce, enforce_nonce: true };
      const reply =
        options.reply_to === undefined
          ? {}
          : { message_reference: { message_id: options.reply_to, fail_if_not_exists: false } };
      return attempt(async () => {
        const message = (await rest.post(Routes.channelMessages(channel_id), {
          body: { ...body, ...nonce, ...reply },
          files,
        })) as APIMessage;
        return { message_id: message.id };
      });
    },
    edit: (channel_id, message_id, view) =>
      attempt(async () => {
        await rest.patch(Routes.channelMessage(channel_id, message_id), payloadOf(view));
        return null;
      }),
    remove: (channel_id, message_id) =>
      attempt(async () => {
        await rest.delete(Routes.channelMessage(channel_id, message_id));
        return null;
      }),
    openDm: (user_id) =>
      attempt(async () => {
        const channel = (await rest.post(Routes.userChannels(), { body: { recipient_id: user_id } })) as { id: string };
        return { channel_id: channel.id };
      }),
    async showTyping(channel_id) {
      await attempt(() => rest.post(Routes.channelTyping(channel_id)));
    },
  };
}

function threadRequests(
  client: Client<true>,
  auto_archive_minutes: number,
): Pick<ChannelAdapter, "openThread" | "renameThread" | "archiveThread"> {
  const { rest } = client;
  const change = (channel_id: string, body: Record<string, unknown>): Promise<ChannelResult<null>> =>
    attempt(async () => {
      await rest.patch(Routes.channel(channel_id), { body });
      return null;
    });
  return {
    async openThread(channel_id, message_id, name) {
      const opened = await attempt(async () => {
        const body = { name, auto_archive_duration: auto_archive_minutes };
        const thread = (await rest.post(Routes.threads(channel_id, message_id), { body })) as { id: string };
        return { channel_id: thread.id };
      });
      // A thread on a message has the message's id, so the one that is there is known (DEVT-15).
      return !opened.ok && opened.reason === "thread_exists" ? { ok: true, value: { channel_id: message_id } } : opened;
    },
    renameThread: (channel_id, name) => change(channel_id, { name }),
    archiveThread: (channel_id, archived) => change(channel_id, { archived }),
  };
}

/** Pages through a channel's history, oldest first. */
async function readHistory(
  client: Client<true>,
  channel_id: string,
  after: string,
  limit: number,
): Promise<ChannelResult<RawMessage[]>> {
  const messages: RawMessage[] = [];
  let position = after;
  while (messages.length < limit) {
    const query = new URLSearchParams({
      after: position,
      limit: String(Math.min(HISTORY_PAGE_MAX, limit - messages.length)),
    });
    const page = await attempt(
      async () => (await client.rest.get(Routes.channelMessages(channel_id), { query })) as RawMessage[],
    );
    if (!page.ok) return page;
    const sorted = page.value.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
    messages.push(...sorted);
    const last = sorted.at(-1);
    if (last === undefined || sorted.length < HISTORY_PAGE_MAX) break;
    position = last.id;
  }
  return { ok: true, value: messages };
}

/** Attachments' addresses expire, so they are fetched when they arrive. */
async function download(
  attachment: InboundAttachment,
  bytes_max: number,
  signal: AbortSignal,
): Promise<ChannelResult<ViewFile>> {
  if (attachment.size > bytes_max) return { ok: false, reason: "too_large", detail: `${attachment.size} bytes` };
  return attempt(async () => {
    const response = await fetch(attachment.url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]),
    });
    if (!response.ok) throw new Error(`The attachment's address answered ${response.status}.`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { name: attachment.filename, bytes };
  });
}
