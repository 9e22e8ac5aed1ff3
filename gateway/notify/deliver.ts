import { createHash } from "node:crypto";
import type { NotificationDelivery, NotificationTarget, NotifyRequest } from "../../src/protocol/notification.ts";
import { isAllowed } from "../allowed.ts";
import type { ChannelResult } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { createRecent } from "../recent.ts";
import { notificationViews } from "../render/words.ts";

/** Below the ten seconds that the server waits. */
const DELIVERY_TIMEOUT_MS = 8000;
const REMEMBERED_MAX = 5000;

/** Null: nobody is there under this name, or nobody can be reached; the two are told apart to no one. */
export type Deliver = (request: NotifyRequest) => Promise<NotificationDelivery[] | null>;

/** Delivers notifications; the same one to the same place once. */
export function createDeliver(gateway: Gateway): Deliver {
  const sent = createRecent<Promise<NotificationDelivery>>(REMEMBERED_MAX);
  const once = (request: NotifyRequest, place: Place): Promise<NotificationDelivery> => {
    if (request.notification_id === undefined) return inTime(gateway, place, deliverTo(gateway, request, place));
    const key = `${request.notification_id}/${place.channel_type}/${place.id}`;
    const before = sent.get(key);
    // One that is still on its way is waited for again, not sent again.
    if (before !== undefined) return inTime(gateway, place, before);
    const delivery = deliverTo(gateway, request, place).then((result) => {
      // What failed may be tried again under the same name.
      if (result.status !== "sent") sent.delete(key);
      return result;
    });
    sent.set(key, delivery);
    return inTime(gateway, place, delivery);
  };
  return async (request) => {
    const places = await placesOf(gateway, request.target);
    return places.length === 0 ? null : Promise.all(places.map((place) => once(request, place)));
  };
}

interface Place {
  channel_type: string;
  id: string;
  /** Whether the id is known to be a person's; a direct target may be either. */
  person: boolean;
}

async function placesOf({ server }: Gateway, target: NotificationTarget): Promise<Place[]> {
  if ("channel_type" in target) return [{ channel_type: target.channel_type, id: target.channel_id, person: false }];
  const links = await server.linksOfUser(target.username);
  if (!links.ok) throw new Error(links.error);
  return links.value.links.map(({ channel_type, channel_user_id }) => ({
    channel_type,
    id: channel_user_id,
    person: true,
  }));
}

async function deliverTo(gateway: Gateway, request: NotifyRequest, place: Place): Promise<NotificationDelivery> {
  const { channel_type, id: channel_id } = place;
  const named = { channel_type, channel_id };
  if (channel_type !== gateway.adapter.channel_type) return { ...named, status: "no_adapter" };
  if (!/^\d{1,20}$/.test(channel_id)) {
    return { ...named, status: "failed", reason: "This is no id of a channel or person." };
  }
  return deliver(gateway, request, place).catch((error: unknown): NotificationDelivery => {
    gateway.log.error("notification.failed", { error: error as Error });
    return { ...named, status: "failed", reason: "It could not be delivered." };
  });
}

/** What became of a delivery, or that it takes too long to wait for. */
async function inTime(
  { clock }: Gateway,
  { channel_type, id: channel_id }: Place,
  delivery: Promise<NotificationDelivery>,
): Promise<NotificationDelivery> {
  const late = new AbortController();
  const timeout = clock.sleep(DELIVERY_TIMEOUT_MS, late.signal).then(
    (): NotificationDelivery => ({ channel_type, channel_id, status: "timeout" }),
    () => null,
  );
  const first = await Promise.race([delivery, timeout]);
  late.abort();
  return first ?? delivery;
}

async function deliver(gateway: Gateway, request: NotifyRequest, place: Place): Promise<NotificationDelivery> {
  const named = { channel_type: place.channel_type, channel_id: place.id };
  const channel = await channelOf(gateway, place);
  if (!channel.ok) {
    gateway.log.warn("notification.not_delivered", { reason: channel.reason, detail: channel.detail });
    return { ...named, status: "failed", reason: channel.reason };
  }
  const channel_id = channel.value;
  const there = await alreadyThere(gateway, request, channel_id);
  const message_ids: string[] = [];
  for (const [part, view] of notificationViews(request.title ?? null, request.message).entries()) {
    const known = there.get(part);
    const posted =
      known === undefined ? await gateway.adapter.post(channel_id, view, nonceOf(request, channel_id, part)) : null;
    if (posted !== null && !posted.ok) {
      gateway.log.warn("notification.not_delivered", { reason: posted.reason, detail: posted.detail });
      return { ...named, status: "failed", reason: posted.reason };
    }
    const message_id = posted === null ? (known ?? "") : posted.value.message_id;
    message_ids.push(message_id);
    // Every part is remembered, so that a reply to any of them finds the workstream (NTFY-22).
    if (posted !== null && request.ws_id !== undefined) {
      await gateway.server.savePosted({
        channel_id,
        message_id,
        ws_id: request.ws_id,
        shows: showsOf(request, message_id),
        part,
      });
    }
  }
  return {
    ...named,
    status: "sent",
    message_id: message_ids[0] ?? "",
    ...(message_ids.length > 1 ? { message_ids } : {}),
  };
}

/**
 * A person's DM, or a channel where we are at work; nobody is reached through a channel that is closed to us
 * (NTFY-21).
 */
async function channelOf({ adapter, settings }: Gateway, place: Place): Promise<ChannelResult<string>> {
  if (!place.person) {
    const channel = await adapter.place(place.id);
    if (channel.ok && !isAllowed(settings.discord, channel.value)) {
      return { ok: false, reason: "forbidden", detail: `The channel ${place.id} is not one of those that are served.` };
    }
    if (channel.ok) return { ok: true, value: place.id };
    if (channel.reason !== "channel_gone") return channel;
  }
  const dm = await adapter.openDm(place.id);
  return dm.ok ? { ok: true, value: dm.value.channel_id } : dm;
}

/** Parts that an earlier attempt, perhaps another gateway's, has delivered. */
async function alreadyThere(
  { server }: Gateway,
  request: NotifyRequest,
  channel_id: string,
): Promise<Map<number, string>> {
  if (request.ws_id === undefined || request.notification_id === undefined) return new Map();
  const posted = await server.postedShowing(request.ws_id, `notification:${request.notification_id}`);
  if (!posted.ok) return new Map();
  return new Map(
    posted.value.posted
      .filter((row) => row.channel_id === channel_id)
      .map(({ part, message_id }) => [part, message_id]),
  );
}

function showsOf(request: NotifyRequest, message_id: string): string {
  return `notification:${request.notification_id ?? message_id}`;
}

function nonceOf(request: NotifyRequest, channel_id: string, part: number): { nonce?: string } {
  if (request.notification_id === undefined) return {};
  const text = `${request.notification_id}\n${channel_id}\n${part}`;
  return { nonce: createHash("sha256").update(text).digest("base64url").slice(0, 24) };
}
