import type { AssistantEvent, EphemeralEvent } from "../../src/protocol/event.ts";
import { answerViews, growingViews } from "../render/answer.ts";
import { turnOf, type Scene } from "./scene.ts";

/** What streams in of an answer. */
type AnswerPiece = Extract<
  EphemeralEvent,
  { type: "thinking_start" | "in_progress_snapshot" | "content" | "stream_restart" }
>;

/** Takes in what the model says, as it says it. */
export function onAnswerPiece(scene: Scene, event: AnswerPiece): void {
  if (event.type === "thinking_start" || event.type === "in_progress_snapshot") {
    const turn = turnOf(scene, turnSeqOf(event.model_call_id));
    turn.call = {
      model_call_id: event.model_call_id,
      text: event.type === "in_progress_snapshot" ? event.content : "",
    };
    scene.dirty.answer = turn.call.text !== "" || turn.unfinished !== null;
    return;
  }
  const call = scene.turn?.call;
  if (call === undefined || call === null) return;
  call.text = event.type === "content" ? call.text + event.text : "";
  scene.dirty.answer = event.type === "content" || scene.turn?.unfinished !== null;
}

/** Shows how far the answer has come. */
export async function growAnswer(scene: Scene): Promise<void> {
  await finishAnswer(scene);
  const call = scene.turn?.call;
  if (call === undefined || call === null) return;
  const views = growingViews(call.text);
  if (views.length > 0) await scene.delivery.show(scene.ws_id, `answer:${call.model_call_id}`, views);
}

/**
 * Shows the finished answer, whole, whatever of it came before. An answer whose messages are all there waits for the
 * next edit, which is often the one that puts the figures under it: so nothing after it has to wait for the pace of
 * edits.
 */
export async function onAssistant(scene: Scene, event: AssistantEvent): Promise<void> {
  await finishAnswer(scene);
  const turn = turnOf(scene, turnSeqOf(event.model_call_id));
  turn.call = null;
  scene.dirty.answer = false;
  const shows = `answer:${event.model_call_id}`;
  const views = answerViews(event.content, null);
  if (views.length > 0) turn.answer = { shows, content: event.content };
  if (views.length > 0 && scene.delivery.shown(shows) === views.length) {
    turn.unfinished = { shows, content: event.content };
    scene.dirty.answer = true;
    return;
  }
  await scene.delivery.show(scene.ws_id, shows, views);
}

/** Shows the rest of a finished answer that is still shown in part. */
export async function finishAnswer(scene: Scene): Promise<void> {
  const unfinished = scene.turn?.unfinished ?? null;
  if (scene.turn === null || unfinished === null) return;
  await scene.delivery.show(scene.ws_id, unfinished.shows, answerViews(unfinished.content, null));
  scene.turn.unfinished = null;
}

/** A model call is named `<seq of the turn's first entry>.<n>`. */
function turnSeqOf(model_call_id: string): number {
  return Number.parseInt(model_call_id, 10) || 0;
}
