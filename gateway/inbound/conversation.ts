import { sha256 } from "../../src/lib/ids.ts";
import type { ChannelRoute } from "../../src/protocol/channel.ts";
import type { ChannelFailure, ChannelPlace, InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { threadName } from "../render/thread_name.ts";
import { textView } from "../render/view.ts";
import { isEmpty, subjectOf } from "./compose.ts";
import { roleView, unlinkedView, type Introducer } from "./introduce.ts";
import type { Speaker } from "./speak.ts";

/** Begins conversations: in a thread on a message, in a thread that is there, in a direct message. */
export interface Conversations {
  /** A mention in a channel: a thread on it, and the message in it. */
  openOn(message: InboundMessage): Promise<void>;
  /** A mention in a thread that shows nothing yet: that thread becomes the conversation. */
  adoptThread(message: InboundMessage): Promise<void>;
  /** The first direct message of a person. */
  openDirect(message: InboundMessage): Promise<void>;
}

export function createConversations(gateway: Gateway, introducer: Introducer, speaker: Speaker): Conversations {
  const begin = async (message: InboundMessage, route: NewRoute): Promise<void> => {
    const made = await createConversation(gateway, speaker, message, route);
    if (made === null) return;
    if (isEmpty(message)) {
      await gateway.adapter.post(made.channel_id, textView("What can I do for you? Write it here."));
      const moved = await gateway.server.moveCursor(made.channel_id, { last_inbound_id: message.id });
      if (moved.ok) gateway.routes.remember(moved.value);
      return;
    }
    await speaker.speak(made, message);
  };
  return {
    async openOn(message) {
      if (!(await mayTalk(gateway, introducer, speaker, message))) return;
      const name = threadName(subjectOf(message));
      const opened = await openThread(gateway, message, name);
      if (!opened.ok) {
        const view = textView(threadRefusal(message.place, opened.reason));
        await introducer.say(message.author, message.place, message.id, view);
        return;
      }
      const { guild_id, channel_id: parent_channel_id } = message.place;
      if (message.thread_id === null) gateway.thread_names.set(opened.channel_id, name);
      await begin(message, { channel_id: opened.channel_id, kind: "thread", guild_id, parent_channel_id, name });
    },
    async adoptThread(message) {
      if (!(await mayTalk(gateway, introducer, speaker, message))) return;
      const { channel_id, guild_id, parent_channel_id, name } = message.place;
      await begin(message, { channel_id, kind: "thread", guild_id, parent_channel_id, name: threadName(name) });
    },
    async openDirect(message) {
      if (!(await mayTalk(gateway, introducer, speaker, message))) return;
      const { channel_id } = message.place;
      await begin(message, {
        channel_id,
        kind: "dm",
        guild_id: null,
        parent_channel_id: null,
        name: threadName(subjectOf(message)),
      });
    },
  };
}

interface NewRoute {
  channel_id: string;
  kind: ChannelRoute["kind"];
  guild_id: string | null;
  parent_channel_id: string | null;
  name: string;
}

/** The workstream of a place, always the same one: a repeated event, or one that was handled half, makes no second. */
export function workstreamIdFor(channel_type: string, channel_id: string): string {
  return sha256(`${channel_type}:${channel_id}`).slice(0, 32);
}

async function createConversation(
  gateway: Gateway,
  speaker: Speaker,
  message: InboundMessage,
  place: NewRoute,
): Promise<ChannelRoute | null> {
  const { server, routes, adapter } = gateway;
  const ws_id = workstreamIdFor(adapter.channel_type, place.channel_id);
  const { name, ...route } = place;
  const created = await speaker.patiently(message, () => server.createWorkstream(message.author, { ws_id, name }));
  if (!created.ok && created.status !== 409) {
    await speaker.refuse({ ...message, place: { ...message.place, channel_id: place.channel_id } }, created);
    return null;
  }
  const made = await speaker.patiently(message, () =>
    server.createRoute({ ...route, ws_id, last_inbound_id: null, cursor_seq: 0 }),
  );
  if (!made.ok) {
    await speaker.refuse(message, made);
    return null;
  }
  routes.remember(made.value);
  return made.value;
}

/** Whether this person has an account that may talk; else they are told how to get one. */
async function mayTalk(
  gateway: Gateway,
  introducer: Introducer,
  speaker: Speaker,
  message: InboundMessage,
): Promise<boolean> {
  const { author, place, id } = message;
  if (author.role === "none") {
    await introducer.say(author, place, id, roleView());
    return false;
  }
  const link = await speaker.patiently(message, () => gateway.server.linkOf(author.id));
  if (link.ok) return true;
  if (link.status === 404) await introducer.say(author, place, id, unlinkedView());
  else await speaker.refuse(message, link);
  return false;
}

type OpenedThread = { ok: true; channel_id: string } | { ok: false; reason: ChannelFailure | "place" };

const ATTEMPTS_MAX = 4;
const ATTEMPT_PAUSE_MS = 1000;

async function openThread(
  { adapter, clock, log, signal }: Gateway,
  message: InboundMessage,
  name: string,
): Promise<OpenedThread> {
  if (message.thread_id !== null) return { ok: true, channel_id: message.thread_id };
  if (message.place.kind !== "channel") return { ok: false, reason: "place" };
  for (let attempt = 1; ; attempt += 1) {
    const opened = await adapter.openThread(message.place.channel_id, message.id, name);
    if (opened.ok) return { ok: true, channel_id: opened.value.channel_id };
    log.warn("thread.not_opened", {
      channel_id: message.place.channel_id,
      reason: opened.reason,
      detail: opened.detail,
    });
    if (opened.reason !== "unavailable" || attempt === ATTEMPTS_MAX || signal.aborted) {
      return { ok: false, reason: opened.reason };
    }
    await clock.sleep(ATTEMPT_PAUSE_MS * attempt, signal).catch(() => {});
  }
}

function threadRefusal(place: ChannelPlace, reason: ChannelFailure | "place"): string {
  if (reason === "place") {
    const where =
      place.kind === "voice" ? "a voice channel" : place.kind === "forum" ? "a forum" : "this kind of channel";
    return `I cannot open a thread in ${where}. Mention me in a text channel, or write to me directly.`;
  }
  if (reason === "forbidden") {
    return "I may not open a thread here. I need “Create Public Threads” and “Send Messages in Threads” in this channel; or write to me directly.";
  }
  if (reason === "message_gone" || reason === "channel_gone") {
    return "The message is gone, so I could not open a thread on it.";
  }
  return "Discord would not open a thread on this message. Try again in a moment, or write to me directly.";
}
