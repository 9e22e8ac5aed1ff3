import type { TurnEndedEvent } from "../../src/protocol/event.ts";
import type { TurnOutcome } from "../../src/protocol/workstream.ts";
import { answerViews } from "../render/answer.ts";
import { durationText, footer } from "../render/figures.ts";
import { foldedCard } from "../render/live.ts";
import { textView } from "../render/view.ts";
import { finishAnswer } from "./answer.ts";
import type { Scene } from "./scene.ts";
import { liveStateOf, type Turn } from "./turn.ts";

/** A person who waited longer than this has looked away and is called. */
const PING_AFTER_MS = 60_000;

/** The end of a turn: the figures under its answer, its card folded, and a call to whoever waited long. */
export async function onTurnEnded(
  scene: Scene,
  seq: number,
  at: string | undefined,
  event: TurnEndedEvent,
): Promise<void> {
  const { turn } = scene;
  if (turn === null) return;
  const duration_ms = durationOf(turn, at);
  const figures = turn.status === null ? null : footer(turn.status, duration_ms ?? turn.status.duration_ms);
  if (turn.answer !== null && figures !== null) {
    if (turn.unfinished?.shows === turn.answer.shows) turn.unfinished = null;
    await scene.delivery.show(scene.ws_id, turn.answer.shows, answerViews(turn.answer.content, figures));
  }
  await finishAnswer(scene);
  if (turn.live_shown) {
    // The figures under the answer name the duration already.
    const told = figures === null ? duration_ms : null;
    const card = foldedCard(liveStateOf(turn), event.outcome, told, turn.answer === null ? figures : null);
    await scene.delivery.show(scene.ws_id, `live:${turn.seq}`, [card]);
  } else if (event.outcome === "cancelled" && turn.answer === null) {
    await scene.delivery.show(scene.ws_id, `entry:${seq}`, [textView("-# ⏹ Stopped")]);
  }
  if (duration_ms !== null && duration_ms > PING_AFTER_MS && turn.asker !== null && scene.kind === "thread") {
    const view = textView(
      `${scene.gateway.adapter.mention(turn.asker)} ${endWord(event.outcome)} after ${durationText(duration_ms)}.`,
    );
    await scene.delivery.show(scene.ws_id, `ping:${turn.seq}`, [{ ...view, ping: [turn.asker] }]);
  }
}

function durationOf(turn: Turn, at: string | undefined): number | null {
  if (turn.started_at === null || at === undefined) return null;
  return Math.max(0, Date.parse(at) - Date.parse(turn.started_at));
}

function endWord(outcome: TurnOutcome): string {
  switch (outcome) {
    case "done":
      return "Done";
    case "cancelled":
    case "interrupted":
      return "Stopped";
    case "limit":
      return "Stopped at a limit";
    case "failed":
      return "It failed";
    default:
      return outcome satisfies never;
  }
}
