import {
  ChannelType,
  Events,
  GatewayDispatchEvents,
  InteractionResponseType,
  InteractionType,
  Routes,
  type Client,
} from "discord.js";
import type { APIInteraction, GatewayDispatchPayload, GatewayMessageDeleteDispatchData } from "discord.js";
import type { Clock } from "../../src/lib/clock.ts";
import type { Log } from "../../src/lib/log.ts";
import type { ChannelHandlers, ChannelPlace } from "../channel_adapter.ts";
import type { View } from "../render/view.ts";
import { createSerialQueue } from "../serial.ts";
import { attempt } from "./failures.ts";
import { directPlace, inboundMessage, type MessageReader, type RawMessage } from "./messages.ts";
import { findPlace } from "./places.ts";
import { pressOf, suggestRequestOf } from "./presses.ts";

export interface ListenDependencies {
  client: Client<true>;
  reader: MessageReader;
  handlers: ChannelHandlers;
  clock: Clock;
  log: Log;
  post(channel_id: string, view: View): Promise<void>;
  postPrivately(user_id: string, view: View): Promise<void>;
}

const SUGGESTIONS_MAX = 25;

/**
 * Tells the handlers what happens on Discord. The raw events are read, not discord.js's objects: those of a direct
 * message or
 * an old message exist only when they happen to be cached.
 */
export function listen(dependencies: ListenDependencies): void {
  const { client, handlers, log } = dependencies;
  const queue = createSerialQueue();
  client.on(Events.Raw, (payload: GatewayDispatchPayload) => {
    // A session that begins afresh has missed what came since the last one.
    if (payload.t === GatewayDispatchEvents.Ready) handlers.onInterrupted();
    // Looking up one place may take longer than looking up another; the messages of a channel keep their order.
    const key = payload.t === GatewayDispatchEvents.MessageCreate ? payload.d.channel_id : String(payload.s);
    queue
      .run(key, () => dispatch(dependencies, payload))
      .catch((error: unknown) => {
        handlers.onInterrupted();
        log.error("discord.event_failed", { event: payload.t, error: error as Error });
      });
  });
  // A connection that was resumed has missed nothing; a fresh one may have.
  client.on(Events.ShardReady, () => handlers.onConnected());
  handlers.onConnected();
}

async function dispatch(dependencies: ListenDependencies, payload: GatewayDispatchPayload): Promise<void> {
  const { handlers, reader } = dependencies;
  switch (payload.t) {
    case GatewayDispatchEvents.MessageCreate:
    case GatewayDispatchEvents.MessageUpdate: {
      const message = await readMessage(dependencies, reader, payload.d);
      if (message === "lost") return handlers.onInterrupted();
      if (message === null) return;
      if (payload.t === GatewayDispatchEvents.MessageCreate) handlers.onMessage(message);
      else if (message.edited_at !== null) handlers.onEdited(message);
      return;
    }
    case GatewayDispatchEvents.MessageDelete:
      onDeleted(handlers, payload.d);
      return;
    case GatewayDispatchEvents.ThreadDelete:
      handlers.onThreadDeleted(payload.d.id);
      return;
    case GatewayDispatchEvents.InteractionCreate:
      await onInteraction(dependencies, payload.d);
      return;
    default:
      return;
  }
}

function onDeleted(handlers: ChannelHandlers, { channel_id, id }: GatewayMessageDeleteDispatchData): void {
  handlers.onDeleted({ channel_id, message_id: id });
}

async function readMessage(
  dependencies: ListenDependencies,
  reader: MessageReader,
  raw: RawMessage,
): Promise<ReturnType<typeof inboundMessage> | "lost"> {
  // An update may name only what changed; such ones are previews of links and the like.
  if (raw.author === undefined || raw.author.bot === true) return null;
  const place = directPlace(raw) ?? (await placeOf(dependencies, raw.channel_id));
  return place === null ? "lost" : inboundMessage(reader, raw, place);
}

async function placeOf({ client, log }: ListenDependencies, channel_id: string): Promise<ChannelPlace | null> {
  const place = await findPlace(client, channel_id);
  if (place.ok) return place.value;
  log.warn("discord.unknown_channel", { channel_id, reason: place.reason, detail: place.detail });
  return null;
}

async function onInteraction(dependencies: ListenDependencies, raw: APIInteraction): Promise<void> {
  const { handlers, reader, client } = dependencies;
  const channel = raw.channel;
  if (channel === undefined) return;
  const known = client.channels.cache.has(channel.id);
  const place: ChannelPlace | null =
    raw.guild_id === undefined && !known
      ? {
          channel_id: channel.id,
          kind: channel.type === ChannelType.DM ? "dm" : "other",
          name: "",
          guild_id: null,
          parent_channel_id: null,
          is_archived: false,
        }
      : await placeOf(dependencies, channel.id);
  if (place === null) return;
  if (raw.type === InteractionType.ApplicationCommandAutocomplete) {
    const request = suggestRequestOf(reader, raw, place);
    const choices = request === null ? [] : await handlers.onSuggest(request).catch(() => []);
    const body = {
      type: InteractionResponseType.ApplicationCommandAutocompleteResult,
      data: { choices: choices.slice(0, SUGGESTIONS_MAX) },
    };
    await attempt(() => client.rest.post(Routes.interactionCallback(raw.id, raw.token), { body, auth: false }));
    return;
  }
  const press = pressOf({ ...dependencies, roles: reader.roles }, raw, place);
  if (press !== null) handlers.onPress(press);
}
