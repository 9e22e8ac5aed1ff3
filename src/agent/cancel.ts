import { cancelledResult } from "../pipeline/execute.ts";
import type { ErrorEvent, KeptEvent } from "../protocol/event.ts";
import { undecidedCalls } from "./projection.ts";
import { endTurn } from "./turn_end.ts";
import type { Change } from "../contracts/store.ts";
import type { StreamBuffer, TurnPort } from "./turn_port.ts";

/**
 * Winds a turn up that was cancelled or cannot go on: what waits for a person is settled as cancelled, each call
 * without a result gets one that says what is known, what the model had said so far is kept as cut short, and the
 * turn ends.
 */
export async function cancelTurn(
  port: TurnPort,
  stream: StreamBuffer | null,
  end: { outcome: "cancelled" | "failed"; error: ErrorEvent | null },
): Promise<void> {
  const { turn, open_reviews } = port.conversation;
  if (turn === null) return;
  const entries: KeptEvent[] = [];
  const changes: Change[] = [];
  const { batch } = turn;
  const undecided = batch === null ? [] : undecidedCalls(batch);
  if (batch !== null && batch.cycle_id !== null && undecided.length > 0) {
    const calls = Object.fromEntries(undecided.map((call_id) => [call_id, false]));
    const { cycle_id } = batch;
    const common = { approved: false, decided_by: null, reason: "cancelled" as const };
    entries.push({
      type: "approval_resolved",
      cycle_id,
      call_ids: undecided,
      calls,
      feedback: null,
      always: false,
      ...common,
    });
    changes.push({ kind: "approval_settled", cycle_id, decisions: calls, state: "settled", at: port.now(), ...common });
  }
  for (const review_id of open_reviews.keys()) {
    entries.push({ type: "plan_resolved", review_id, feedback: "reject", decided_by: null, reason: "cancelled" });
    changes.push({ kind: "review_settled", review_id, feedback: "reject", decided_by: null, at: port.now() });
  }
  for (const call of turn.open_calls) {
    if (turn.results.has(call.id)) continue;
    const kept = batch?.calls.find((candidate) => candidate.call_id === call.id);
    entries.push(cancelledResult(call, turn.started.has(call.id), kept?.effect !== "none").event);
  }
  if (stream !== null && stream.content.trim() !== "" && turn.open_calls.length === 0) {
    entries.push(cutShort(stream, port));
  }
  await port.append({ entries: entries.map((event) => ({ event })), changes });
  if (end.outcome === "cancelled") port.emit({ type: "cancelled" });
  const still_open = port.conversation.turn;
  if (still_open !== null) await endTurn(port, still_open, end.outcome, end.error === null ? [] : [end.error]);
}

function cutShort(stream: StreamBuffer, port: TurnPort): KeptEvent {
  const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const model_alias = port.models()[0]?.alias ?? "";
  const { content, model_call_id } = stream;
  return {
    type: "assistant",
    content,
    tool_calls: [],
    usage: none,
    stop_reason: "cancelled",
    model_call_id,
    model_alias,
  };
}
