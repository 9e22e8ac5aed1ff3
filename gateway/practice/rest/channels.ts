import type { JsonObject } from "../../../src/protocol/json.ts";
import { isJsonObject } from "../../../src/protocol/json.ts";
import { FLAG, checkMessage } from "../check/message.ts";
import { checkBoolean, checkChoice, checkText } from "../check/values.ts";
import { publishChannel, publishMessage } from "../events.ts";
import { DiscordFailure, createForm, failure } from "../failure.ts";
import { requireCanSend, storeMessage, writeMessage } from "../messages.ts";
import { CHANNEL_TYPE } from "../model.ts";
import type { Channel, World } from "../model.ts";
import { channelPayload, messagePayload, threadMemberPayload } from "../payloads.ts";
import { canView, may, requirePermissions } from "../permissions.ts";
import {
  ACTIVE_THREADS_MAX,
  AUTO_ARCHIVE_MINUTES,
  activeThreads,
  addThreadMember,
  createThread,
  directChannel,
  removeThreadMember,
  setArchived,
  threadOf,
} from "../threads.ts";
import { channelOf, messageOf } from "../world.ts";
import { NOTHING, ok, param, route } from "./route.ts";
import type { Call, Reply, Route } from "./route.ts";
import { textOf } from "../json.ts";

const STARTER_TYPE = 21;
const THREAD_CREATED_TYPE = 18;

/** Channels, threads and direct messages. */
export const channelRoutes: readonly Route[] = [
  route("GET", "/channels/:channel_id", (call) => ok(channelPayload(call.world, visible(call)))),
  route("PATCH", "/channels/:channel_id", changeChannel),
  route("DELETE", "/channels/:channel_id", deleteChannel),
  route("POST", "/channels/:channel_id/messages/:message_id/threads", threadFromMessage),
  route("POST", "/channels/:channel_id/threads", threadInChannel),
  route("GET", "/channels/:channel_id/threads/archived/public", (call) => archivedThreads(call, [10, 11])),
  route("GET", "/channels/:channel_id/threads/archived/private", (call) => archivedThreads(call, [12])),
  route("GET", "/channels/:channel_id/users/:user_id/threads/archived/private", (call) => archivedThreads(call, [12])),
  route("GET", "/channels/:channel_id/thread-members", (call) => {
    const channel = visible(call);
    return ok([...threadOf(channel).member_ids].map((id) => threadMemberPayload(channel, id)));
  }),
  route("GET", "/channels/:channel_id/thread-members/:user_id", threadMember),
  route("PUT", "/channels/:channel_id/thread-members/:user_id", joinThread),
  route("DELETE", "/channels/:channel_id/thread-members/:user_id", leaveThread),
  route("POST", "/users/:user_id/channels", openDirect),
];

function visible(call: Call): Channel {
  const channel = channelOf(call.world, param(call, "channel_id"));
  requirePermissions(call.world, channel, call.world.bot_id);
  return channel;
}

function changeChannel(call: Call): Reply {
  const channel = visible(call);
  if (channel.thread !== null) changeThread(call, channel);
  else {
    requirePermissions(call.world, channel, call.world.bot_id, "manage_channels");
    checkName(call.body, false);
    if (typeof call.body["name"] === "string") channel.name = call.body["name"];
    if (typeof call.body["topic"] === "string") channel.topic = call.body["topic"];
    publishChannel(call.world, "UPDATE", channel);
  }
  return ok(channelPayload(call.world, channel));
}

// The owner may rename and archive; locking and others' threads need the right to manage threads.
function changeThread(call: Call, channel: Channel): void {
  const { world, body } = call;
  const thread = threadOf(channel);
  const manages = may(world, channel, world.bot_id, "manage_threads");
  const owns = thread.owner_id === world.bot_id;
  if (!manages && (body["locked"] !== undefined || !owns)) {
    // Anyone who may write in a thread that is not locked may bring it back.
    const revives = Object.keys(body).every((key) => key === "archived") && body["archived"] === false;
    if (!revives || thread.locked) throw failure("missing_permissions");
  }
  checkName(body, false);
  const changesOther = Object.keys(body).some((key) => key !== "archived" && key !== "locked");
  if (thread.archived && changesOther && body["archived"] !== false) throw failure("thread_archived");
  if (typeof body["name"] === "string") channel.name = body["name"].trim();
  if (typeof body["auto_archive_duration"] === "number") thread.auto_archive_duration = body["auto_archive_duration"];
  if (typeof body["invitable"] === "boolean") thread.invitable = body["invitable"];
  setArchived(world, channel, {
    ...(typeof body["archived"] === "boolean" ? { archived: body["archived"] } : {}),
    ...(typeof body["locked"] === "boolean" ? { locked: body["locked"] } : {}),
  });
}

function checkName(body: JsonObject, required: boolean): void {
  const form = createForm();
  checkText({ form, path: ["name"] }, body["name"], { min: 1, max: 100, required });
  const minutes = body["auto_archive_duration"];
  if (minutes !== undefined && minutes !== null) {
    checkChoice({ form, path: ["auto_archive_duration"] }, minutes, AUTO_ARCHIVE_MINUTES);
  }
  checkBoolean({ form, path: ["archived"] }, body["archived"]);
  checkBoolean({ form, path: ["locked"] }, body["locked"]);
  form.finish();
}

function deleteChannel(call: Call): Reply {
  const channel = visible(call);
  if (channel.type !== CHANNEL_TYPE.dm) {
    const right = channel.thread === null ? "manage_channels" : "manage_threads";
    requirePermissions(call.world, channel, call.world.bot_id, right);
    removeChannel(call.world, channel);
  }
  return ok(channelPayload(call.world, channel));
}

/** Deletes a channel or thread with its messages. */
export function removeChannel(world: World, channel: Channel): void {
  for (const child of world.channels.values()) if (child.parent_id === channel.id) removeChannel(world, child);
  publishChannel(world, "DELETE", channel);
  world.channels.delete(channel.id);
  world.messages.delete(channel.id);
  world.changes.emit({ kind: "channel", channel_id: channel.id });
}

function threadFromMessage(call: Call): Reply {
  const { world, body } = call;
  const parent = visible(call);
  requireThreadParent(world, parent, "create_public_threads");
  const message = messageOf(world, parent.id, param(call, "message_id"));
  if (world.channels.has(message.id)) throw failure("thread_exists");
  if (message.type !== 0 && message.type !== 19 && message.type !== 20) throw failure("system_message");
  checkName(body, true);
  const channel = createThread(world, {
    id: message.id,
    parent,
    name: textOf(body["name"]).trim(),
    type: parent.type === CHANNEL_TYPE.announcement ? CHANNEL_TYPE.announcement_thread : CHANNEL_TYPE.public_thread,
    owner_id: world.bot_id,
    auto_archive_duration: minutesOf(body),
  });
  message.flags |= FLAG.has_thread;
  publishMessage(world, "MESSAGE_UPDATE", message);
  storeMessage(world, {
    channel,
    author_id: message.author_id,
    type: STARTER_TYPE,
    reference: { type: 0, channel_id: parent.id, message_id: message.id, guild_id: parent.guild_id },
    allowed_mentions: { parse: [] },
  });
  return { status: 201, body: channelPayload(world, channel) };
}

function threadInChannel(call: Call): Reply {
  const { world, body } = call;
  const parent = visible(call);
  checkName(body, true);
  if (parent.type === CHANNEL_TYPE.forum) return forumPost(call, parent);
  // Without a type Discord makes a private thread.
  const type = body["type"] === CHANNEL_TYPE.public_thread ? CHANNEL_TYPE.public_thread : CHANNEL_TYPE.private_thread;
  const isPublic = type === CHANNEL_TYPE.public_thread;
  requireThreadParent(world, parent, isPublic ? "create_public_threads" : "create_private_threads");
  const channel = createThread(world, {
    parent,
    name: textOf(body["name"]).trim(),
    type,
    owner_id: world.bot_id,
    auto_archive_duration: minutesOf(body),
    invitable: body["invitable"] !== false,
  });
  if (isPublic) {
    storeMessage(world, {
      channel: parent,
      author_id: world.bot_id,
      type: THREAD_CREATED_TYPE,
      content: channel.name,
      reference: { type: 0, channel_id: channel.id, message_id: channel.id, guild_id: parent.guild_id },
    });
  }
  return { status: 201, body: channelPayload(world, channel) };
}

function forumPost(call: Call, parent: Channel): Reply {
  const { world, body, files } = call;
  requirePermissions(world, parent, world.bot_id, "send_messages");
  const first = isJsonObject(body["message"]) ? body["message"] : {};
  checkMessage({ body: first, files, surface: "channel", existing: null, path: ["message"] });
  const channel = createThread(world, {
    parent,
    name: textOf(body["name"]).trim(),
    type: CHANNEL_TYPE.public_thread,
    owner_id: world.bot_id,
    auto_archive_duration: minutesOf(body),
    applied_tags: Array.isArray(body["applied_tags"]) ? body["applied_tags"].map(String) : [],
  });
  const message = writeMessage(world, { channel, body: first, files, surface: "channel", path: ["message"] });
  return {
    status: 201,
    body: { ...channelPayload(world, channel), message: messagePayload(world, message) },
  };
}

function requireThreadParent(
  world: World,
  parent: Channel,
  right: "create_public_threads" | "create_private_threads",
): void {
  if (parent.type !== CHANNEL_TYPE.text && parent.type !== CHANNEL_TYPE.announcement) {
    throw failure("wrong_channel_type");
  }
  requirePermissions(world, parent, world.bot_id, right);
  if (activeThreads(world, parent.guild_id ?? "").length >= ACTIVE_THREADS_MAX) {
    throw new DiscordFailure(400, 160_006, "Maximum number of active threads reached");
  }
}

function minutesOf(body: JsonObject): number | null {
  return typeof body["auto_archive_duration"] === "number" ? body["auto_archive_duration"] : null;
}

function archivedThreads(call: Call, types: readonly number[]): Reply {
  const parent = visible(call);
  const { world } = call;
  const threads = [...world.channels.values()].filter(
    (channel) =>
      channel.parent_id === parent.id &&
      channel.thread?.archived === true &&
      types.includes(channel.type) &&
      canView(world, channel, world.bot_id),
  );
  return ok(threadList(world, threads));
}

/** Threads with the bot's own memberships. */
export function threadList(world: World, threads: readonly Channel[]): JsonObject {
  return {
    threads: threads.map((thread) => channelPayload(world, thread)),
    members: threads
      .filter((thread) => thread.thread?.member_ids.has(world.bot_id) === true)
      .map((thread) => threadMemberPayload(thread, world.bot_id)),
    has_more: false,
  };
}

function memberId(call: Call): string {
  const id = param(call, "user_id");
  return id === "@me" ? call.world.bot_id : id;
}

function threadMember(call: Call): Reply {
  const channel = visible(call);
  if (!threadOf(channel).member_ids.has(memberId(call))) throw failure("unknown_member");
  return ok(threadMemberPayload(channel, memberId(call)));
}

function joinThread(call: Call): Reply {
  const channel = visible(call);
  if (threadOf(channel).archived) throw failure("thread_archived");
  if (memberId(call) !== call.world.bot_id) requireCanSend(call.world, channel, call.world.bot_id);
  addThreadMember(call.world, channel, memberId(call));
  return NOTHING;
}

function leaveThread(call: Call): Reply {
  const channel = visible(call);
  if (threadOf(channel).archived) throw failure("thread_archived");
  if (memberId(call) !== call.world.bot_id) {
    requirePermissions(call.world, channel, call.world.bot_id, "manage_threads");
  }
  removeThreadMember(call.world, channel, memberId(call));
  return NOTHING;
}

function openDirect(call: Call): Reply {
  const recipient = call.world.users.get(textOf(call.body["recipient_id"]));
  if (recipient === undefined) {
    const form = createForm();
    form.add(["recipient_id"], "NUMBER_TYPE_COERCE", "Unknown recipient.");
    form.finish();
    throw failure("unknown_user");
  }
  if (recipient.bot) throw failure("cannot_send_to_user");
  return ok(channelPayload(call.world, directChannel(call.world, recipient.id)));
}
