import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { ChannelPlace, ChannelResult } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { subjectOf } from "../inbound/compose.ts";
import { threadName } from "../render/thread_name.ts";
import { textView } from "../render/view.ts";
import { DeliveryUnavailable, PlaceGone } from "./delivery.ts";
import type { Scene } from "./scene.ts";

/** The conversation has got a title: the thread takes it, unless somebody has named it meanwhile. */
export async function onRenamed({ gateway, kind, channel_id }: Scene, title: string): Promise<void> {
  if (kind !== "thread") return;
  const place = await gateway.adapter.place(channel_id);
  const name = threadName(title);
  if (!place.ok || name === place.value.name) return;
  const given = gateway.thread_names.get(channel_id) ?? (await nameFromOpening(gateway, place.value));
  if (place.value.name !== given) return;
  gateway.thread_names.set(channel_id, name);
  // Discord lets a thread be renamed twice in ten minutes; whoever comes third waits, and nothing waits for them.
  void rename(gateway, channel_id, name);
}

/** The name that a thread was opened with, from the message on which it stands: another gateway may have opened it. */
async function nameFromOpening({ adapter }: Gateway, place: ChannelPlace): Promise<string | null> {
  const { channel_id, parent_channel_id } = place;
  if (parent_channel_id === null) return null;
  // A thread has the id of the message on which it was opened.
  const before = String(BigInt(channel_id) - 1n);
  const [first] = await adapter.history(parent_channel_id, before, 1).then((read) => (read.ok ? read.value : []));
  const opening = first?.message_id === channel_id ? first.message : null;
  return opening === null ? null : threadName(subjectOf(opening));
}

async function rename({ adapter, log }: Gateway, channel_id: string, name: string): Promise<void> {
  const renamed = await adapter.renameThread(channel_id, name);
  if (!renamed.ok) log.warn("thread.not_renamed", { channel_id, reason: renamed.reason, detail: renamed.detail });
}

/**
 * The conversation was closed: its thread says so and is archived (DEVT-21). The server tells it again until it hears
 * that this was done.
 */
export async function onClosed(scene: Scene, frame: ChannelFrame, reason: string): Promise<void> {
  const { gateway, kind, route_channel_id } = scene;
  if (kind !== "beside") await sayClosed(scene, frame, reason === "deleted");
  if (frame.at === undefined) return;
  const heard = await gateway.server.closingTold(route_channel_id, { closed: frame.at });
  if (!heard.ok) throw new DeliveryUnavailable(`The server did not hear that the place was told: ${heard.error}`);
}

async function sayClosed(scene: Scene, frame: ChannelFrame, is_deleted: boolean): Promise<void> {
  const { gateway, delivery, channel_id, ws_id } = scene;
  const { adapter } = gateway;
  for (const message_id of frame.leftovers ?? []) must(await adapter.remove(channel_id, message_id));
  const place = await adapter.place(channel_id);
  must(place);
  const is_thread = place.ok && place.value.kind === "thread";
  // Long after the last word, as at the end of its retention, nobody is called back to a thread for its end.
  if (is_deleted && place.ok && place.value.is_archived) return;
  await delivery.show(ws_id, `closed:${frame.at ?? ""}`, [textView(is_deleted ? deletedText(is_thread) : CLOSED)]);
  if (is_thread) must(await adapter.archiveThread(channel_id, true));
}

const CLOSED = "-# This conversation is closed. Write here to open it again.";

function deletedText(is_thread: boolean): string {
  const next = is_thread ? "Mention me to begin a new one here." : "Write here to begin a new one.";
  return `-# This conversation was deleted. ${next}`;
}

/** What may work later is done later. */
function must(done: ChannelResult<unknown>): void {
  if (done.ok) return;
  if (done.reason === "unavailable" || done.reason === "rate_limited") throw new DeliveryUnavailable(done.detail);
  if (done.reason === "channel_gone") throw new PlaceGone(done.detail);
}

/** The place is gone: the workstream ends, the route goes, and its person is told by DM (DREN-13). */
export async function closeForGonePlace(
  gateway: Gateway,
  place: { route_channel_id: string; ws_id: string; kind: Scene["kind"]; asker: string | null },
): Promise<void> {
  const { server, adapter, routes, log } = gateway;
  log.info("place.gone", { channel_id: place.route_channel_id });
  const owner = await server.owner(place.route_channel_id);
  const person = (owner.ok ? owner.value.channel_user_id : null) ?? place.asker;
  routes.forget(place.route_channel_id);
  if (place.kind === "thread") await server.close(undefined, place.ws_id, "The thread was deleted.");
  await server.removeRoute(place.route_channel_id);
  if (place.kind !== "thread" || person === null) return;
  const dm = await adapter.openDm(person);
  if (!dm.ok) return;
  await adapter.post(
    dm.value.channel_id,
    textView(
      "Your conversation’s thread was deleted, so I closed the conversation. Mention me in a channel to begin a new one.",
    ),
  );
}
