import type { WorkstreamRow } from "../contracts/store.ts";
import type { ErrorEvent, TurnEndedEvent } from "../protocol/event.ts";
import type { TurnOutcome } from "../protocol/workstream.ts";
import type { Workstream } from "./actor.ts";

/** The entries that end a turn (errors, status, turn_ended) and notes that may follow are among the last so many. */
const ENDING_ENTRIES = 8;

const CUT = "[The sub-agent's answer ends here because a limit was reached.]";

export type FinalWords = { ok: true; text: string; ws_id: string } | { ok: false; error: string; ws_id: string };

/** What a sub-agent's turn came to, for the one who asked. Its turn must be over. */
export async function finalWords(child: Workstream): Promise<FinalWords> {
  const { ws_id } = child.row;
  const { outcome, reason } = await endingOf(child);
  const { text, is_last } = lastText(child);
  const failed = (what: string): FinalWords => ({ ok: false, error: withWork(what, child, text), ws_id });
  switch (outcome) {
    case "done":
      return is_last ? { ok: true, text, ws_id } : failed(`The sub-agent ended without an answer.${reason}`);
    case "limit":
      if (!is_last) return failed(`The sub-agent reached a limit before it answered.${reason}`);
      return { ok: true, text: `${text}\n\n${CUT}`, ws_id };
    case "cancelled":
      return failed("The sub-agent was cancelled before it had finished.");
    case "interrupted":
    case "failed":
      return failed(`The sub-agent failed before it had finished.${reason}`);
    default:
      return outcome satisfies never;
  }
}

/** The last words of the newest planner among these workstreams; null when there is none that said any. */
export async function latestPlan(
  rows: readonly WorkstreamRow[],
  load: (ws_id: string) => Promise<Workstream | null>,
): Promise<string | null> {
  const planner = rows.findLast((row) => row.kind === "plan");
  const child = planner === undefined ? null : await load(planner.ws_id);
  const said = child?.conversation.messages.findLast(
    (message) => message.role === "assistant" && message.content.trim() !== "",
  );
  return said?.role === "assistant" ? said.content.trim() : null;
}

async function endingOf(child: Workstream): Promise<{ outcome: TurnOutcome; reason: string }> {
  const { conversation, services, row } = child;
  const before_turn = (conversation.turn_starts.at(-1) ?? 1) - 1;
  const entries = await services.store.journal.read(
    row.ws_id,
    Math.max(before_turn, conversation.last_seq - ENDING_ENTRIES),
  );
  const events = entries.map((entry) => entry.event);
  const ended = events.findLast((event): event is TurnEndedEvent => event.type === "turn_ended");
  const error = events.findLast((event): event is ErrorEvent => event.type === "error");
  return {
    outcome: ended?.outcome ?? "failed",
    reason: error === undefined ? "" : ` ${error.message}`,
  };
}

/** The last text of the present turn, and whether nothing came after it. */
function lastText({ conversation }: Workstream): { text: string; is_last: boolean } {
  const { messages, message_seqs, turn_starts } = conversation;
  const first_seq = turn_starts.at(-1) ?? 0;
  const index = messages.findLastIndex((message) => message.role === "assistant" && message.content.trim() !== "");
  const message = messages[index];
  if (message?.role !== "assistant" || (message_seqs[index] ?? 0) < first_seq) return { text: "", is_last: false };
  return { text: message.content.trim(), is_last: index === messages.length - 1 };
}

/** A failure in words, with what the sub-agent had done: it stays done. */
function withWork(failure: string, { conversation }: Workstream, text: string): string {
  const counts = new Map<string, number>();
  for (const message of conversation.messages) {
    if (message.role === "tool") counts.set(message.name, (counts.get(message.name) ?? 0) + 1);
  }
  const calls = [...counts].map(([name, count]) => `${name} × ${count}`).join(", ");
  return [
    failure,
    calls === "" ? "It had called no tools." : `Calls it had made (what they did stays done): ${calls}.`,
    text === "" ? "" : `The last that it said:\n${text}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
