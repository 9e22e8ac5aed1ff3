import { checkInteger } from "../check/values.ts";
import { publishReaction, publishTyping } from "../events.ts";
import { createForm, failure } from "../failure.ts";
import { editMessage, removeMessage, requireCanSend, setPinned, writeMessage } from "../messages.ts";
import type { Channel, Message } from "../model.ts";
import { iso, messagePayload } from "../payloads.ts";
import { may, requirePermissions } from "../permissions.ts";
import { channelOf, historyOf, messageOf } from "../world.ts";
import { NOTHING, ok, param, route } from "./route.ts";
import type { Call, Reply, Route } from "./route.ts";
import { textOf } from "../json.ts";

/** Pinned messages of a channel. */
const PINS_MAX = 250;

/** Messages and what hangs on them. */
export const messageRoutes: readonly Route[] = [
  route("GET", "/channels/:channel_id/messages", listMessages),
  route("POST", "/channels/:channel_id/messages", sendMessage),
  route("GET", "/channels/:channel_id/messages/:message_id", (call) => {
    const { message } = readable(call);
    return ok(messagePayload(call.world, message));
  }),
  route("PATCH", "/channels/:channel_id/messages/:message_id", changeMessage),
  route("DELETE", "/channels/:channel_id/messages/:message_id", deleteMessage),
  route("POST", "/channels/:channel_id/messages/bulk-delete", bulkDelete),
  route("POST", "/channels/:channel_id/typing", type),
  route("GET", "/channels/:channel_id/messages/pins", listPins),
  route("GET", "/channels/:channel_id/pins", listPinsOld),
  route("PUT", "/channels/:channel_id/messages/pins/:message_id", (call) => pin(call, true)),
  route("DELETE", "/channels/:channel_id/messages/pins/:message_id", (call) => pin(call, false)),
  route("PUT", "/channels/:channel_id/pins/:message_id", (call) => pin(call, true)),
  route("DELETE", "/channels/:channel_id/pins/:message_id", (call) => pin(call, false)),
  route("PUT", "/channels/:channel_id/messages/:message_id/reactions/:emoji/:user_id", react),
  route("DELETE", "/channels/:channel_id/messages/:message_id/reactions/:emoji/:user_id", unreact),
];

/** The channel of the call, if the bot may see it. */
function visibleChannel(call: Call): Channel {
  const channel = channelOf(call.world, param(call, "channel_id"));
  requirePermissions(call.world, channel, call.world.bot_id);
  return channel;
}

function readable(call: Call): { channel: Channel; message: Message } {
  const channel = visibleChannel(call);
  if (!may(call.world, channel, call.world.bot_id, "read_message_history")) throw failure("missing_access");
  return { channel, message: messageOf(call.world, channel.id, param(call, "message_id")) };
}

function listMessages(call: Call): Reply {
  const channel = visibleChannel(call);
  const form = createForm();
  const given = call.query["limit"];
  const limit = checkInteger({ form, path: ["limit"] }, given === undefined ? 50 : Number(given), { min: 1, max: 100 });
  form.finish();
  if (!may(call.world, channel, call.world.bot_id, "read_message_history")) return ok([]);
  const page = pageOf(historyOf(call.world, channel.id), call.query, limit ?? 50);
  return ok(page.toReversed().map((message) => messagePayload(call.world, message)));
}

/** Oldest first. `around`, `before` and `after` exclude each other, in this order. */
function pageOf(history: Message[], query: Call["query"], limit: number): Message[] {
  const { around, before, after } = query;
  if (around !== undefined) {
    const half = Math.floor(limit / 2);
    const at = history.findIndex((message) => BigInt(message.id) >= BigInt(around));
    return history.slice(Math.max(0, at - half), Math.max(0, at - half) + limit);
  }
  if (before !== undefined) return history.filter((one) => BigInt(one.id) < BigInt(before)).slice(-limit);
  if (after !== undefined) return history.filter((one) => BigInt(one.id) > BigInt(after)).slice(0, limit);
  return history.slice(-limit);
}

function sendMessage(call: Call): Reply {
  const { world, body, files } = call;
  const channel = channelOf(world, param(call, "channel_id"));
  requireCanSend(world, channel, world.bot_id);
  return ok(messagePayload(world, writeMessage(world, { channel, body, files, surface: "channel" })));
}

function changeMessage(call: Call): Reply {
  const { channel, message } = readable(call);
  const { world, body, files } = call;
  if (message.author_id !== world.bot_id) throw failure("cannot_edit_others");
  requireNotArchived(channel);
  editMessage(world, { message, body, files, surface: "channel" });
  return ok(messagePayload(world, message));
}

function deleteMessage(call: Call): Reply {
  const { channel, message } = readable(call);
  requireNotArchived(channel);
  if (message.author_id !== call.world.bot_id) {
    if (channel.guild_id === null) throw failure("missing_permissions");
    requirePermissions(call.world, channel, call.world.bot_id, "manage_messages");
  }
  removeMessage(call.world, message);
  return NOTHING;
}

function bulkDelete(call: Call): Reply {
  const channel = visibleChannel(call);
  requirePermissions(call.world, channel, call.world.bot_id, "manage_messages");
  const ids = Array.isArray(call.body["messages"]) ? call.body["messages"] : [];
  for (const id of ids) {
    const message = call.world.messages.get(channel.id)?.get(textOf(id));
    if (message !== undefined) removeMessage(call.world, message);
  }
  return NOTHING;
}

function type(call: Call): Reply {
  const channel = visibleChannel(call);
  requireCanSend(call.world, channel, call.world.bot_id);
  publishTyping(call.world, channel, call.world.bot_id);
  return NOTHING;
}

function pinned(call: Call): Message[] {
  const channel = visibleChannel(call);
  return historyOf(call.world, channel.id)
    .filter((message) => message.pinned)
    .toReversed();
}

function listPins(call: Call): Reply {
  const items = pinned(call).map((message) => ({
    pinned_at: iso(call.world.now()),
    message: messagePayload(call.world, message),
  }));
  return ok({ items, has_more: false });
}

function listPinsOld(call: Call): Reply {
  return ok(pinned(call).map((message) => messagePayload(call.world, message)));
}

function pin(call: Call, to: boolean): Reply {
  const { channel, message } = readable(call);
  if (channel.guild_id !== null) requirePermissions(call.world, channel, call.world.bot_id, "pin_messages");
  if (to && pinned(call).length >= PINS_MAX) throw failure("too_many_pins");
  requireNotArchived(channel);
  setPinned(call.world, message, to);
  return NOTHING;
}

function react(call: Call): Reply {
  const { channel, message } = readable(call);
  requireNotArchived(channel);
  if (channel.guild_id !== null) requirePermissions(call.world, channel, call.world.bot_id, "add_reactions");
  const emoji = emojiOf(call);
  const users = message.reactions.get(emoji) ?? new Set<string>();
  message.reactions.set(emoji, users.add(call.world.bot_id));
  publishReaction(call.world, "ADD", message, emoji, call.world.bot_id);
  return NOTHING;
}

function unreact(call: Call): Reply {
  const { channel, message } = readable(call);
  requireNotArchived(channel);
  const emoji = emojiOf(call);
  const target = param(call, "user_id");
  const userId = target === "@me" ? call.world.bot_id : target;
  if (userId !== call.world.bot_id) {
    requirePermissions(call.world, channel, call.world.bot_id, "manage_messages");
  }
  const users = message.reactions.get(emoji);
  users?.delete(userId);
  if (users?.size === 0) message.reactions.delete(emoji);
  publishReaction(call.world, "REMOVE", message, emoji, userId);
  return NOTHING;
}

function emojiOf(call: Call): string {
  const emoji = param(call, "emoji");
  if (!/\p{Extended_Pictographic}|\p{Regional_Indicator}|^[0-9#*]/u.test(emoji)) throw failure("unknown_emoji");
  return emoji;
}

/** In an archived thread nothing can be changed, only written. */
function requireNotArchived(channel: Channel): void {
  if (channel.thread?.archived === true) throw failure("thread_archived");
}
