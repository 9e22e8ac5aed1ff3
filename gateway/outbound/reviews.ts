import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { PlanResolvedEvent, PlanReviewEvent } from "../../src/protocol/event.ts";
import { planCard } from "../render/plan.ts";
import { sayNo, showQuestion } from "./elsewhere.ts";
import { reveal } from "./live_card.ts";
import { turnOf, workstreamOf, type Scene } from "./scene.ts";

/** Puts a plan before the person. */
export async function onPlanReview(scene: Scene, frame: ChannelFrame, event: PlanReviewEvent): Promise<void> {
  const turn = turnOf(scene, frame.seq ?? 0);
  const ws_id = workstreamOf(scene, frame);
  const { content, round } = event;
  turn.reviews.set(event.review_id, { ws_id, elsewhere: null, content, round, decision: null });
  turn.state = "attention";
  reveal(scene);
  await showReview(scene, event.review_id);
}

/** Shows a review as it stands. */
export async function showReview(scene: Scene, review_id: string): Promise<void> {
  const review = scene.turn?.reviews.get(review_id);
  if (review === undefined) return;
  const card = planCard(review_id, review.content, review.round, review.decision);
  const shows = `review:${review_id}`;
  if (await showQuestion(scene, review, shows, card, review.decision === null)) return;
  await sayNo(scene, shows, () => scene.gateway.server.plan(undefined, review.ws_id, "reject", review_id));
}

/** Rewrites the card with how it ended. */
export async function onPlanResolved(scene: Scene, frame: ChannelFrame, event: PlanResolvedEvent): Promise<void> {
  const review = scene.turn?.reviews.get(event.review_id);
  if (review === undefined) return;
  const at = frame.at ?? new Date(scene.gateway.clock.now()).toISOString();
  review.decision = { feedback: event.feedback, by: event.decided_by?.name ?? null, at };
  await showReview(scene, event.review_id);
}
