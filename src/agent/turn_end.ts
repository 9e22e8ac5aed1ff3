import type { KeptEvent } from "../protocol/event.ts";
import type { TurnOutcome } from "../protocol/workstream.ts";
import { reasonForOverflow } from "./compaction.ts";
import type { ModelCallResult } from "./model_call.ts";
import type { TurnProgress } from "./conversation.ts";
import type { TurnDependencies, TurnPort } from "./turn_port.ts";

/** Ends a turn whose models did not answer. */
export async function endFailed(port: TurnPort, result: Extract<ModelCallResult, { ok: false }>): Promise<void> {
  const { turn } = port.conversation;
  if (turn === null) return;
  const { code, message, retry_after_ms } = result.failure;
  const retry_at =
    retry_after_ms === undefined ? {} : { retry_at: new Date(Date.parse(port.now()) + retry_after_ms).toISOString() };
  await endTurn(port, turn, "failed", [{ type: "error", message, code, ...retry_at }]);
}

/** Ends a turn whose conversation no model call can hold. */
export async function endOverflown(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): Promise<void> {
  const message = await reasonForOverflow(port, dependencies);
  await endTurn(port, turn, "failed", [{ type: "error", message, code: "model_context_overflow" }]);
}

/** Ends a turn whose last answer asks for nothing more. */
export async function finish(port: TurnPort, turn: TurnProgress, stop_reason: string): Promise<void> {
  const last = port.conversation.messages.at(-1);
  const empty = last?.role === "assistant" && last.content.trim() === "";
  switch (stop_reason) {
    case "length":
      return endTurn(port, turn, "limit", [
        {
          type: "error",
          code: "model_cut",
          message: 'The answer reached the model\'s output limit and was cut; say "continue" to get the rest.',
        },
      ]);
    case "content_filter":
      return endTurn(port, turn, "failed", [
        {
          type: "error",
          code: "model_content_filter",
          message: "The provider's content filter stopped the answer; put the request in other words.",
        },
      ]);
    case "refusal":
      return endTurn(port, turn, "done", [
        {
          type: "error",
          code: "model_refused",
          message: "The model refused to answer this; put the request in other words or choose another model.",
        },
      ]);
    default:
      if (!empty) return endTurn(port, turn, "done", []);
      return endTurn(port, turn, "failed", [
        {
          type: "error",
          code: "model_empty",
          message: "The model gave an empty answer; try again or put the request in other words.",
        },
      ]);
  }
}

/** Closes the turn: what it used, how it ended, in one step. */
export async function endTurn(
  port: TurnPort,
  turn: TurnProgress,
  outcome: TurnOutcome,
  before: KeptEvent[],
): Promise<void> {
  const status = port.status(turn);
  await port.append({
    entries: [...before, ...(status === null ? [] : [status]), { type: "turn_ended" as const, outcome }].map(
      (event) => ({ event }),
    ),
    state: outcome === "failed" ? "error" : "idle",
    turn_open: false,
  });
  port.setStream(null);
}
