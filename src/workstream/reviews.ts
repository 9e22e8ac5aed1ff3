import type { PlanResult } from "../contracts/engine.ts";
import type { ReviewAnswer } from "../contracts/tool.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { timestamp } from "../lib/clock.ts";
import type { DecidedBy } from "../protocol/approval.ts";
import type { PlanResolvedEvent } from "../protocol/event.ts";
import { guestsOf } from "./guests.ts";
import type { LiveWorkstream } from "./live_workstream.ts";

/**
 * Puts a plan before a person and waits. After a restart the same review is taken up again: it is found by its call and
 * round. Where nobody is to be asked, the gate is skipped.
 */
export async function review(
  actor: LiveWorkstream,
  call_id: string,
  request: { content: string; round: number },
  signal: AbortSignal,
): Promise<ReviewAnswer> {
  if (actor.services.settings.skip_permissions) return { decision: "skipped" };
  if (actor.row.auto_approve && (await guestsOf(actor)).length === 0) return { decision: "skipped" };
  const { content, round } = request;
  const open = [...actor.conversation.open_reviews].find(
    ([, { event }]) => event.call_id === call_id && event.round === round,
  );
  const settled = open === undefined ? actor.conversation.settled_reviews.get(`${call_id}:${round}`) : undefined;
  if (settled !== undefined) return answerOf(settled);
  const review_id = open?.[0] ?? newPrefixedId("review");
  if (open === undefined) {
    const { ws_id } = actor.row;
    const row = {
      review_id,
      ws_id,
      seq: 0,
      call_id,
      content,
      round,
      state: "pending" as const,
      feedback: null,
      decided_by: null,
      created: "",
    };
    await actor.appendPersistently(
      {
        entries: [{ event: { type: "plan_review", review_id, call_id, content, round } }],
        changes: [{ kind: "review_opened", review: row }],
      },
      signal,
    );
  }
  actor.host.showAttention(actor.row.ws_id);
  for (;;) {
    const answer = actor.conversation.settled_reviews.get(`${call_id}:${round}`);
    if (answer !== undefined) {
      actor.host.showAttention(actor.row.ws_id);
      return answerOf(answer);
    }
    await actor.decided(signal);
  }
}

/** What an answer means: nothing accepts, a plain no rejects, all else asks for changes. */
function answerOf({ feedback, decided_by }: Pick<PlanResolvedEvent, "feedback" | "decided_by">): ReviewAnswer {
  const text = feedback.trim();
  const by = decided_by?.name ?? null;
  if (text === "") return { decision: "accepted" };
  if (/^(n|no|reject|rejected)$/i.test(text)) return { decision: "rejected", by };
  return { decision: "changes", feedback: text, by };
}

/** Settles a review: the one that is named, else the oldest. */
export function settleReview(
  actor: LiveWorkstream,
  request: { feedback: string; review_id: string | null; decided_by: DecidedBy | null },
): Promise<PlanResult> {
  return actor.serial(async () => {
    const { open_reviews } = actor.conversation;
    const review_id = request.review_id ?? open_reviews.keys().next().value ?? null;
    if (review_id === null || !open_reviews.has(review_id)) {
      const known = review_id === null ? null : await actor.services.store.approvals.review(review_id);
      if (known === null || known.ws_id !== actor.row.ws_id) {
        return {
          ok: false,
          reason: "nothing_pending",
          error: "No plan is waiting for a review here.",
          decided_by: null,
        };
      }
      const { decided_by } = known;
      return {
        ok: false,
        reason: "settled",
        error: `This plan was already reviewed by ${decided_by?.name ?? "nobody"}.`,
        decided_by,
      };
    }
    const { feedback, decided_by } = request;
    const reason = decided_by === null ? "unreachable" : "person";
    await actor.append({
      entries: [{ event: { type: "plan_resolved", review_id, feedback, decided_by, reason } }],
      changes: [{ kind: "review_settled", review_id, feedback, decided_by, at: timestamp(actor.services.clock) }],
    });
    return { ok: true, review_id };
  });
}
