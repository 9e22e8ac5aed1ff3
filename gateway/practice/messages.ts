import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { isJsonObject } from "../../src/protocol/json.ts";
import { numberComponents } from "./check/components.ts";
import { FLAG, checkMessage } from "./check/message.ts";
import type { Surface } from "./check/message.ts";
import { publishMessage, publishMessageDelete } from "./events.ts";
import { createForm, failure } from "./failure.ts";
import { keepFile } from "./files.ts";
import type { Upload } from "./files.ts";
import { mentionsOf, pingingText } from "./mentions.ts";
import type { Attachment, Channel, Message, MessageReference, World } from "./model.ts";
import { iso, messagePayload } from "./payloads.ts";
import { may, requirePermissions } from "./permissions.ts";
import { noteThreadMessage } from "./threads.ts";
import { forgetOldest, newSnowflake } from "./world.ts";
import { objectsIn, textOf } from "./json.ts";

/** How long a nonce is remembered, and how many are at most. */
const NONCE_MS = 5 * 60_000;
const NONCES_MAX = 10_000;

const REPLY_TYPE = 19;
const COMMAND_REPLY_TYPE = 20;

/** Everything that a message may begin with; what is absent is empty. */
export interface Draft extends Partial<Omit<Message, "id" | "channel_id" | "created_at" | "mentions">> {
  channel: Channel;
  author_id: string;
  allowed_mentions?: JsonValue | undefined;
}

/** Keeps a message and tells everybody. Nothing is checked: callers have done so. */
export function storeMessage(world: World, draft: Draft): Message {
  const { channel, allowed_mentions, ...given } = draft;
  const components = numberComponents(draft.components ?? []);
  const mentions = mentionsOf(world, {
    channel,
    author_id: draft.author_id,
    text: pingingText(draft.content ?? "", components),
    allowed: allowed_mentions,
    replied_to: repliedAuthor(world, draft.reference ?? null),
  });
  const message: Message = {
    ...EMPTY_MESSAGE,
    attachments: [],
    embeds: [],
    stickers: [],
    reactions: new Map(),
    ...given,
    id: newSnowflake(world),
    channel_id: channel.id,
    created_at: world.now(),
    components,
    mentions: mentions.users,
    mention_roles: mentions.roles,
    mention_everyone: mentions.everyone,
  };
  placeMessage(world, channel, message);
  publishMessage(world, "MESSAGE_CREATE", message);
  return message;
}

const EMPTY_MESSAGE = {
  webhook_name: null,
  type: 0,
  content: "",
  edited_at: null,
  flags: 0,
  pinned: false,
  tts: false,
  nonce: null,
  reference: null,
  snapshot: null,
  poll: null,
  interaction_id: null,
  ephemeral_for: null,
} as const;

function placeMessage(world: World, channel: Channel, message: Message): void {
  if (message.ephemeral_for !== null) {
    world.ephemeral.set(message.id, message);
    return;
  }
  const history = world.messages.get(channel.id) ?? new Map<string, Message>();
  world.messages.set(channel.id, history.set(message.id, message));
  channel.last_message_id = message.id;
  world.typing.delete(`${channel.id}:${message.author_id}`);
  noteThreadMessage(world, channel, message.author_id);
}

function repliedAuthor(world: World, reference: MessageReference | null): string | null {
  if (reference?.type !== 0) return null;
  return world.messages.get(reference.channel_id)?.get(reference.message_id)?.author_id ?? null;
}

/** Throws what Discord answers when somebody may not write here: access, rights, closed DM, forum, lock. */
export function requireCanSend(world: World, channel: Channel, userId: string): void {
  if (channel.type === 15) throw failure("forum_needs_thread");
  if (channel.type === 1) return requireOpenDm(world, channel, userId);
  requirePermissions(world, channel, userId, channel.thread === null ? "send_messages" : "send_messages_in_threads");
  if (channel.thread?.locked === true && !may(world, channel, userId, "manage_threads")) throw failure("thread_locked");
}

function requireOpenDm(world: World, channel: Channel, userId: string): void {
  if (!channel.recipient_ids.includes(userId)) throw failure("missing_access");
  if (userId !== world.bot_id) return;
  const other = world.users.get(channel.recipient_ids.find((id) => id !== userId) ?? "");
  if (other === undefined || other.dms_closed || other.bot) throw failure("cannot_send_to_user");
}

/** A message that a bot sends through REST, checked as Discord checks it. */
export function writeMessage(
  world: World,
  input: {
    channel: Channel;
    body: JsonObject;
    files: readonly Upload[];
    surface: Surface;
    path?: readonly string[];
    interaction_id?: string | null;
    ephemeral_for?: string | null;
  },
): Message {
  const { channel, body, files, surface, path = [] } = input;
  const repeated = repeatedMessage(world, channel, body);
  if (repeated !== null) return repeated;
  checkMessage({ body, files, surface, path, existing: null });
  if (surface === "channel") requireContentRights(world, channel, body, files);
  const reference = referenceOf(world, channel, body);
  const ephemeral = input.ephemeral_for ?? null;
  const message = storeMessage(world, {
    channel,
    author_id: world.bot_id,
    type: messageType(reference, input.interaction_id ?? null),
    content: typeof body["content"] === "string" ? body["content"].trim() : "",
    embeds: embedsOf(body["embeds"]),
    components: objectsIn(body["components"]),
    attachments: keepFiles(world, body, files),
    flags: (numberOf(body["flags"]) & ALLOWED_FLAGS) | (ephemeral === null ? 0 : FLAG.ephemeral),
    tts: body["tts"] === true,
    nonce: typeof body["nonce"] === "string" || typeof body["nonce"] === "number" ? body["nonce"] : null,
    reference,
    snapshot: snapshotOf(world, reference),
    poll: isJsonObject(body["poll"]) ? body["poll"] : null,
    interaction_id: input.interaction_id ?? null,
    ephemeral_for: ephemeral,
    allowed_mentions: allowedMentions(body, surface),
  });
  if (message.nonce !== null) {
    world.nonces.set(nonceKey(channel, world.bot_id, message.nonce), { message_id: message.id, at: world.now() });
    forgetOldest(world.nonces, NONCES_MAX);
  }
  return message;
}

const ALLOWED_FLAGS =
  FLAG.suppress_embeds | FLAG.ephemeral | FLAG.suppress_notifications | FLAG.voice_message | FLAG.components_v2;

function messageType(reference: MessageReference | null, interactionId: string | null): number {
  if (interactionId !== null) return COMMAND_REPLY_TYPE;
  return reference?.type === 0 ? REPLY_TYPE : 0;
}

// Interactions' answers parse users only where nothing is said.
function allowedMentions(body: JsonObject, surface: Surface): JsonValue | undefined {
  return body["allowed_mentions"] ?? (surface === "interaction" ? { parse: ["users"] } : undefined);
}

function repeatedMessage(world: World, channel: Channel, body: JsonObject): Message | null {
  const nonce = body["nonce"];
  if (body["enforce_nonce"] !== true || (typeof nonce !== "string" && typeof nonce !== "number")) return null;
  const known = world.nonces.get(nonceKey(channel, world.bot_id, nonce));
  if (known === undefined || world.now() - known.at > NONCE_MS) return null;
  return world.messages.get(channel.id)?.get(known.message_id) ?? null;
}

function nonceKey(channel: Channel, authorId: string, nonce: string | number): string {
  return `${channel.id}:${authorId}:${nonce}`;
}

function requireContentRights(world: World, channel: Channel, body: JsonObject, files: readonly Upload[]): void {
  if (channel.guild_id === null) return;
  if (files.length > 0) requirePermissions(world, channel, world.bot_id, "attach_files");
  if (embedsOf(body["embeds"]).length > 0) requirePermissions(world, channel, world.bot_id, "embed_links");
}

function referenceOf(world: World, channel: Channel, body: JsonObject): MessageReference | null {
  const given = body["message_reference"];
  if (!isJsonObject(given)) return null;
  const type = given["type"] === 1 ? 1 : 0;
  const channelId = typeof given["channel_id"] === "string" ? given["channel_id"] : channel.id;
  const messageId = textOf(given["message_id"]);
  if (type === 0 && channel.guild_id !== null && !may(world, channel, world.bot_id, "read_message_history")) {
    throw failure("no_history_permission");
  }
  if (world.messages.get(channelId)?.has(messageId) !== true || (type === 0 && channelId !== channel.id)) {
    if (given["fail_if_not_exists"] === false) return null;
    const form = createForm();
    form.add(["message_reference"], "REPLIES_UNKNOWN_MESSAGE", "Unknown message");
    form.finish();
  }
  return { type, channel_id: channelId, message_id: messageId, guild_id: channel.guild_id };
}

/** What a forward carries of the message it forwards. */
export function snapshotOf(world: World, reference: MessageReference | null): JsonObject | null {
  if (reference?.type !== 1) return null;
  const target = world.messages.get(reference.channel_id)?.get(reference.message_id);
  if (target === undefined) return null;
  const whole = messagePayload(world, target);
  const keys = [
    "type",
    "content",
    "mentions",
    "mention_roles",
    "attachments",
    "embeds",
    "timestamp",
    "edited_timestamp",
    "flags",
    "components",
  ];
  return Object.fromEntries(keys.map((key) => [key, whole[key] ?? null]));
}

function keepFiles(world: World, body: JsonObject, files: readonly Upload[]): Attachment[] {
  const listed = objectsIn(body["attachments"]);
  return files.map((file) => {
    const about = listed.find((entry) => file.name === `files[${textOf(entry["id"])}]`) ?? {};
    const filename = typeof about["filename"] === "string" ? about["filename"] : file.filename;
    return keepFile(
      world,
      { ...file, filename },
      {
        title: typeof about["title"] === "string" ? about["title"] : null,
        description: typeof about["description"] === "string" ? about["description"] : null,
      },
    );
  });
}

/** Changes a message as REST does: fields that are absent stay. */
export function editMessage(
  world: World,
  input: { message: Message; body: JsonObject; files: readonly Upload[]; surface: Surface; path?: readonly string[] },
): Message {
  const { message, body, files, surface, path = [] } = input;
  checkMessage({ body, files, surface, path, existing: message });
  if (body["content"] !== undefined) {
    message.content = typeof body["content"] === "string" ? body["content"].trim() : "";
  }
  if (body["embeds"] !== undefined) message.embeds = embedsOf(body["embeds"]);
  if (body["components"] !== undefined) message.components = numberComponents(objectsIn(body["components"]));
  if (typeof body["flags"] === "number") {
    const editable = FLAG.suppress_embeds | FLAG.components_v2;
    const kept = message.flags & ~FLAG.suppress_embeds;
    message.flags = kept | (body["flags"] & editable);
  }
  const listed = body["attachments"];
  if (Array.isArray(listed)) {
    message.attachments = message.attachments.filter((one) =>
      objectsIn(listed).some((entry) => textOf(entry["id"]) === one.id),
    );
  }
  message.attachments.push(...keepFiles(world, body, files));
  updateMentions(world, message, allowedMentions(body, surface));
  markEdited(world, message);
  return message;
}

/** Sets the mentions anew from the text. Edits notify nobody, but the list follows the text. */
export function updateMentions(world: World, message: Message, allowed: JsonValue | undefined): void {
  const channel = world.channels.get(message.channel_id);
  if (channel === undefined) return;
  const mentions = mentionsOf(world, {
    channel,
    author_id: message.author_id,
    text: pingingText(message.content, message.components),
    allowed,
    replied_to: null,
  });
  message.mentions = mentions.users;
  message.mention_roles = mentions.roles;
  message.mention_everyone = mentions.everyone;
}

/** The edit's time and event. A deferred answer that gets its content is new, not edited. */
export function markEdited(world: World, message: Message): void {
  if ((message.flags & FLAG.loading) !== 0) message.flags &= ~FLAG.loading;
  else message.edited_at = world.now();
  publishMessage(world, "MESSAGE_UPDATE", message);
}

/** Takes a message out of history, or from the one person who sees it. */
export function removeMessage(world: World, message: Message): void {
  world.messages.get(message.channel_id)?.delete(message.id);
  world.ephemeral.delete(message.id);
  const thread = world.channels.get(message.channel_id)?.thread;
  if (thread && message.ephemeral_for === null) thread.message_count = Math.max(0, thread.message_count - 1);
  publishMessageDelete(world, message);
}

/** `MESSAGE_UPDATE` fields in one place for pins, which change no text. */
export function setPinned(world: World, message: Message, pinned: boolean): void {
  if (message.pinned === pinned) return;
  message.pinned = pinned;
  publishMessage(world, "MESSAGE_UPDATE", message);
}

function embedsOf(value: JsonValue | undefined): JsonObject[] {
  return objectsIn(value).map((embed) => ({ type: "rich", content_scan_version: 0, ...embed, ...embedTime(embed) }));
}

function embedTime(embed: JsonObject): JsonObject {
  const at = typeof embed["timestamp"] === "string" ? Date.parse(embed["timestamp"]) : Number.NaN;
  return Number.isNaN(at) ? {} : { timestamp: iso(at) };
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
