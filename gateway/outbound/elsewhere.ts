import { platformChannel } from "../routes.ts";
import { textView, type View } from "../render/view.ts";
import type { ServerAnswer } from "../server_request.ts";
import { createDelivery, DeliveryUnavailable, type Delivery } from "./delivery.ts";
import type { Scene } from "./scene.ts";
import type { Question } from "./turn.ts";

/**
 * Shows a question as it stands: in its place, and in a direct message where it stands already. Where the place will
 * not have it, its owner is asked by direct message; answers false where that fails too.
 */
export async function showQuestion(
  scene: Scene,
  question: Question,
  shows: string,
  view: View,
  open: boolean,
): Promise<boolean> {
  const { ws_id } = question;
  question.elsewhere ??= await directPlaceOf(scene, ws_id, shows);
  if (question.elsewhere !== null && (await question.elsewhere.show(ws_id, shows, [view]))) return true;
  if ((await scene.delivery.show(ws_id, shows, [view])) || !open) return true;
  const dm = await ownersDm(scene);
  if (dm === null) return false;
  const delivery = directDelivery(scene, dm);
  if (!(await delivery.show(ws_id, shows, [view]))) return false;
  question.elsewhere = delivery;
  await delivery.show(ws_id, `${shows}:why`, [textView("-# I could not ask in the thread, so I ask you here.")]);
  return true;
}

/** Says no in nobody's name, until the server has heard it. */
export async function sayNo(
  { gateway: { log } }: Scene,
  shows: string,
  refuse: () => Promise<ServerAnswer<unknown>>,
): Promise<void> {
  log.warn("question.nobody_can_be_asked", { shows });
  const answer = await refuse();
  if (answer.ok || answer.status === 404 || answer.status === 409) return;
  throw new DeliveryUnavailable(`The server did not take that nobody can be asked: ${answer.error}`);
}

async function directPlaceOf(scene: Scene, ws_id: string, shows: string): Promise<Delivery | null> {
  if (scene.kind !== "thread") return null;
  const places = await scene.delivery.places(ws_id, shows);
  const other = places.find((id) => id !== scene.route_channel_id && !platformChannel(id).beside);
  return other === undefined ? null : directDelivery(scene, other);
}

function directDelivery({ gateway }: Scene, channel_id: string): Delivery {
  return createDelivery(gateway, { route_channel_id: channel_id, channel_id });
}

/** The direct messages with whoever owns the conversation; with who asked last where nobody does, or without a link. */
async function ownersDm({ gateway, kind, route_channel_id, turn, last_asker }: Scene): Promise<string | null> {
  if (kind !== "thread") return null;
  const owner = await gateway.server.owner(route_channel_id);
  if (!owner.ok && owner.status !== 404) throw new DeliveryUnavailable(owner.error);
  const person = (owner.ok ? owner.value.channel_user_id : null) ?? turn?.asker ?? last_asker;
  if (person === null) return null;
  const dm = await gateway.adapter.openDm(person);
  if (dm.ok) return dm.value.channel_id;
  if (dm.reason === "unavailable" || dm.reason === "rate_limited") throw new DeliveryUnavailable(dm.detail);
  return null;
}
