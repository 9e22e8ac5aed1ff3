import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { PlanResolvedEvent, PlanReviewEvent } from "../../src/protocol/event.ts";
import { planCard } from "../render/plan.ts";
import { reveal } from "./live_card.ts";
import { turnOf, workstreamOf, type Scene } from "./scene.ts";

/** Puts a plan before the person. */
export async function onPlanReview(scene: Scene, frame: ChannelFrame, event: PlanReviewEvent): Promise<void> {
  const turn = turnOf(scene, frame.seq ?? 0);
  const ws_id = workstreamOf(scene, frame);
  turn.reviews.set(event.review_id, { ws_id, content: event.content, round: event.round, decision: null });
  turn.state = "attention";
  reveal(scene);
  await showReview(scene, event.review_id);
}

/** Shows a review as it stands. */
export async function showReview(scene: Scene, review_id: string): Promise<void> {
  const review = scene.turn?.reviews.get(review_id);
  if (review === undefined) return;
  const card = planCard(review_id, review.content, review.round, review.decision);
  await scene.delivery.show(review.ws_id, `review:${review_id}`, [card]);
}

/** Rewrites the card with how it ended. */
export async function onPlanResolved(scene: Scene, frame: ChannelFrame, event: PlanResolvedEvent): Promise<void> {
  const review = scene.turn?.reviews.get(event.review_id);
  if (review === undefined) return;
  const at = frame.at ?? new Date(scene.gateway.clock.now()).toISOString();
  review.decision = { feedback: event.feedback, by: event.decided_by?.name ?? null, at };
  await showReview(scene, event.review_id);
}
