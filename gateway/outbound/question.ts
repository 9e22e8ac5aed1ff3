import type { UserTurnEvent } from "../../src/protocol/event.ts";
import { wasAskedIn } from "../inbound/direct.ts";
import { clip, plainText } from "../render/defuse.ts";
import { threadName } from "../render/thread_name.ts";
import { asideView } from "../render/words.ts";
import { turnOf, type Scene } from "./scene.ts";

const SHOWN_LENGTH_MAX = 600;

/** A message that the agent has taken up: it begins a turn, or joins the one that runs. */
export async function onUserTurn(
  scene: Scene,
  seq: number,
  at: string | undefined,
  event: UserTurnEvent,
): Promise<void> {
  const { gateway } = scene;
  const begins = scene.turn === null;
  const turn = turnOf(scene, seq);
  if (begins) turn.started_at = at ?? null;
  for (const [msg_id, { client_send_id }] of turn.queued) {
    if (client_send_id !== null && event.client_send_ids.includes(client_send_id)) turn.queued.delete(msg_id);
  }
  const { sender } = event;
  if (sender?.channel_type === gateway.adapter.channel_type && sender.channel_user_id !== undefined) {
    turn.asker = sender.channel_user_id;
    scene.last_asker = sender.channel_user_id;
  }
  turn.asked_here ||= wasAskedIn(scene.channel_id, event.client_send_ids);
  if (scene.kind === "thread" && gateway.thread_names.get(scene.channel_id) === undefined && seq <= 2) {
    gateway.thread_names.set(scene.channel_id, threadName(event.content));
  }
  if (scene.kind !== "beside" && !wroteHere(scene, event)) {
    const who = sender === undefined ? "Somebody" : `**${plainText(sender.name)}**`;
    await scene.delivery.show(scene.ws_id, `entry:${seq}`, [
      asideView(`${who} wrote elsewhere: ${plainText(clip(event.content, SHOWN_LENGTH_MAX))}`),
    ]);
  }
  if (scene.kind !== "beside" || turn.asked_here) void gateway.adapter.showTyping(scene.channel_id);
}

/** Whether people in this place see the message anyway. */
function wroteHere(scene: Scene, event: UserTurnEvent): boolean {
  return (
    event.source === scene.gateway.adapter.channel_type && !event.client_send_ids.some((id) => id.startsWith("dm."))
  );
}
