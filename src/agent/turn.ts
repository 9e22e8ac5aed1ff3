import { prepareDraft, takeAnswer } from "./answer.ts";
import { runBatch } from "./batch.ts";
import { compactIfNeeded, type CompactionOutcome } from "./compaction.ts";
import { callModels, type ModelCallResult } from "./model_call.ts";
import type { TurnProgress } from "./conversation.ts";
import { nextAction } from "./projection.ts";
import { requestBuilder } from "./request.ts";
import { endFailed, endOverflown, finish } from "./turn_end.ts";
import { endedByLimit, isLastCall } from "./turn_limit.ts";
import { TurnAborted, type TurnDependencies, type TurnPort } from "./turn_port.ts";

/** Compactions of one turn because a provider says the conversation is too long; more would never end. */
const OVERFLOW_COMPACTIONS_MAX = 1;

/** Summaries of one turn that may fail; a model that gives none is not asked before each of its calls. */
const FAILED_COMPACTIONS_MAX = 2;

/** What a turn has tried so far to make its conversation fit. */
interface Attempts {
  overflow_compactions: number;
  failed_compactions: number;
}

/**
 * Carries an open turn to its end, from wherever its journal says it stands: the same loop runs a fresh turn and one
 * that a crash interrupted. Rejects with the signal's reason when it is aborted.
 */
export async function runTurn(port: TurnPort, dependencies: TurnDependencies): Promise<void> {
  const attempts: Attempts = { overflow_compactions: 0, failed_compactions: 0 };
  for (;;) {
    const { turn } = port.conversation;
    if (turn === null) return;
    port.signal.throwIfAborted();
    if (port.stopping()) throw new TurnAborted("shutdown");
    const action = nextAction(turn);
    switch (action.kind) {
      case "call_model": {
        await port.joinQueued();
        if (await endedByLimit(port, turn, dependencies)) return;
        await think(port, turn, attempts, dependencies);
        break;
      }
      case "prepare":
        await port.append(await prepareDraft(port, action.calls, dependencies));
        break;
      case "wait":
        port.setState("attention");
        port.assess(action.cycle_id);
        await port.decided(action.cycle_id);
        break;
      case "execute":
        await runBatch(port, turn, action.batch, action.calls, dependencies);
        break;
      case "finish":
        if (!(await port.joinQueued())) await finish(port, turn, action.stop_reason);
        break;
    }
  }
}

/**
 * One model call, with the conversation made to fit before it, and once more when the provider says that it does not.
 */
async function think(
  port: TurnPort,
  turn: TurnProgress,
  attempts: Attempts,
  dependencies: TurnDependencies,
): Promise<void> {
  if ((await compactInTurn(port, attempts, dependencies, false)) === "hopeless") {
    return endOverflown(port, turn, dependencies);
  }
  const result = await callModel(port, turn, dependencies);
  if (result.ok) return takeAnswer(port, result.answer, dependencies);
  if (result.failure.code !== "model_context_overflow") return endFailed(port, result);
  if (attempts.overflow_compactions < OVERFLOW_COMPACTIONS_MAX) {
    attempts.overflow_compactions += 1;
    if ((await compactInTurn(port, attempts, dependencies, true)) === "compacted") return;
  }
  return endOverflown(port, turn, dependencies);
}

async function compactInTurn(
  port: TurnPort,
  attempts: Attempts,
  dependencies: TurnDependencies,
  forced: boolean,
): Promise<CompactionOutcome> {
  if (attempts.failed_compactions >= FAILED_COMPACTIONS_MAX) return "failed";
  const outcome = await compactIfNeeded(port, dependencies, forced);
  if (outcome === "failed") {
    attempts.failed_compactions += 1;
    port.note("The conversation is long, but summarising it failed; it stays as it is.");
  }
  return outcome;
}

async function callModel(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): Promise<ModelCallResult> {
  const chain = port.models();
  const with_tools = !isLastCall(port, turn, dependencies);
  const build = await requestBuilder(port, dependencies.catalog, dependencies.loadAttachment, with_tools);
  const model_call_id = `${turn.turn_seq}.${turn.model_calls + 1}`;
  port.setState("thinking");
  port.emit({ type: "thinking_start", model_call_id, model_alias: chain[0]?.alias ?? "" });
  port.setStream({ model_call_id, content: "", reasoning: "" });
  let thinking = true;
  const redactors = { content: dependencies.redactStream(), reasoning: dependencies.redactStream() };
  const shown = (kind: "content" | "reasoning", text: string): void => {
    if (text === "") return;
    if (thinking) port.emit({ type: "thinking_stop" });
    thinking = false;
    port.delta(kind, text);
  };
  try {
    return await callModels(
      chain,
      build,
      {
        content: (text) => shown("content", redactors.content.push(text)),
        reasoning: (text) => shown("reasoning", redactors.reasoning.push(text)),
        info: (message) => port.note(message),
        restarted(message) {
          redactors.content.end();
          redactors.reasoning.end();
          port.setStream({ model_call_id, content: "", reasoning: "" });
          port.emit({ type: "stream_restart", message });
        },
      },
      port.signal,
      dependencies,
    );
  } finally {
    shown("reasoning", redactors.reasoning.end());
    shown("content", redactors.content.end());
    if (thinking) port.emit({ type: "thinking_stop" });
    port.emit({ type: "stream_end" });
  }
}
