import type { CompactionEvent, ErrorEvent, InfoEvent, RewoundEvent } from "../../src/protocol/event.ts";
import { countText } from "../render/figures.ts";
import { asideView, failureView } from "../render/words.ts";
import type { Scene } from "./scene.ts";

/** One message per failure: what, when it will work again, and a button that tries again. */
export async function onError(scene: Scene, seq: number, event: ErrorEvent): Promise<void> {
  await scene.delivery.show(scene.ws_id, `entry:${seq}`, [failureView(event, seq)]);
}

/** Small lines about what happened beside the answer. */
export async function onAside(
  scene: Scene,
  seq: number,
  event: InfoEvent | CompactionEvent | RewoundEvent,
): Promise<void> {
  const text = asideText(event);
  if (text.trim() !== "") await scene.delivery.show(scene.ws_id, `entry:${seq}`, [asideView(text)]);
}

function asideText(event: InfoEvent | CompactionEvent | RewoundEvent): string {
  switch (event.type) {
    case "info":
      return event.message;
    case "compaction":
      return `The conversation was summarised to make room: ${countText(event.before_tokens)} → ${countText(event.after_tokens)} tokens.`;
    case "rewound":
      return event.turns === 1 ? "The last turn was taken back." : `The last ${event.turns} turns were taken back.`;
    default:
      return event satisfies never;
  }
}
