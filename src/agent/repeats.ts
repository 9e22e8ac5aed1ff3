import type { ToolResultEvent } from "../protocol/event.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { TurnProgress } from "./conversation.ts";

/** The same call with the same result so often is no progress. */
const REPEATS_TOLD = 3;

const NOTE = `\n\n[This is what the same call has brought ${REPEATS_TOLD} times in a row. Do something else, or say what keeps you.]`;

/** The text of a result, with a note for a model that asks the same again and again while nothing changes. */
export function withRepeatNote(turn: TurnProgress, call: ToolCall, output: string): string {
  const before = turn.repeats.get(keyOf(call));
  return before?.output === output && before.count >= REPEATS_TOLD - 1 ? output + NOTE : output;
}

/** Counts a result. One that changed something makes all that was seen before old. */
export function countRepeat(turn: TurnProgress, event: ToolResultEvent): void {
  if (event.effect !== "none") {
    turn.repeats.clear();
    return;
  }
  const call = turn.open_calls.find(({ id }) => id === event.call_id);
  if (call === undefined) return;
  const output = event.output.endsWith(NOTE) ? event.output.slice(0, -NOTE.length) : event.output;
  const before = turn.repeats.get(keyOf(call));
  turn.repeats.set(keyOf(call), { output, count: before?.output === output ? before.count + 1 : 1 });
}

function keyOf(call: ToolCall): string {
  return `${call.name}\n${call.arguments}`;
}
