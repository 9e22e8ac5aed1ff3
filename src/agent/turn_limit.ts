import { textOf } from "../protocol/message.ts";
import type { TurnProgress } from "./conversation.ts";
import { endTurn } from "./turn_end.ts";
import type { TurnDependencies, TurnPort } from "./turn_port.ts";

/** Model calls of one turn; a loop beyond it is a runaway, and the person says whether to go on. */
const MODEL_CALLS_PER_TURN_MAX = 200;

/** Whether a limit was reached and the turn was ended for it: its person's budget, or its number of model calls. */
export async function endedByLimit(
  port: TurnPort,
  turn: TurnProgress,
  dependencies: TurnDependencies,
): Promise<boolean> {
  const used_up = await port.budgetError();
  if (used_up !== null) {
    await endTurn(port, turn, "limit", [used_up]);
    return true;
  }
  const limit = port.workstream.kind === "main" ? MODEL_CALLS_PER_TURN_MAX : dependencies.agent_max_turns;
  if (turn.model_calls < limit) return false;
  if (isLastCall(port, turn, dependencies)) {
    await askForLastWords(port, limit);
    return false;
  }
  const message = `This turn has called the model ${limit} times, which is the limit; say "continue" to go on.`;
  await endTurn(port, turn, "limit", [{ type: "error", message, code: "turn_limit" }]);
  return true;
}

/** A sub-agent at its limit gets one more call without tools, so that its work is reported and not lost. */
export function isLastCall(port: TurnPort, turn: TurnProgress, dependencies: TurnDependencies): boolean {
  return port.workstream.kind !== "main" && turn.model_calls === dependencies.agent_max_turns;
}

async function askForLastWords(port: TurnPort, limit: number): Promise<void> {
  const content = `You have made ${limit} model calls, which is the limit, and can use no more tools. Answer now with what you have done and found, and say what is still open.`;
  const last = port.conversation.messages.at(-1);
  const is_asked = last?.role === "user" && textOf(last.content) === content;
  if (!is_asked) {
    await port.append({ entries: [{ event: { type: "user_turn", content, source: "server", client_send_ids: [] } }] });
  }
}
