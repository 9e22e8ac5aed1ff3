import type { JournalEntry, JournalStore } from "../contracts/store.ts";
import type { HistoryAnswer, HistoryMessage } from "../protocol/workstream.ts";

/** Entries read at once, backwards from the end. */
const WINDOW_ENTRIES = 500;

/** The newest `limit` messages as people saw them, oldest first. Turns that were taken back are left out. */
export async function readHistory(
  journal: JournalStore,
  ws_id: string,
  last_seq: number,
  limit: number,
): Promise<HistoryAnswer> {
  const newest_first: HistoryMessage[] = [];
  let before = last_seq + 1;
  /** Entries after this one were taken back. */
  let kept_until = Number.POSITIVE_INFINITY;
  while (before > 1 && newest_first.length < limit) {
    const after = Math.max(0, before - 1 - WINDOW_ENTRIES);
    const entries = await journal.read(ws_id, after, before - 1 - after);
    for (const entry of entries.toReversed()) {
      const message = entry.seq > kept_until ? null : messageOf(entry);
      if (message !== null && newest_first.length < limit) newest_first.push(message);
      if (entry.event.type === "rewound") kept_until = Math.min(kept_until, entry.event.kept_after_seq);
    }
    before = after + 1;
  }
  const handoff_token = Buffer.from(`${ws_id}:${last_seq}`).toString("base64url");
  return { ws_id, messages: newest_first.toReversed(), cursor: last_seq, handoff_token };
}

function messageOf({ seq, at, event }: JournalEntry): HistoryMessage | null {
  switch (event.type) {
    case "user_turn": {
      const sender =
        event.sender === undefined ? {} : { sender: { user_id: event.sender.user_id, name: event.sender.name } };
      return { role: "user", content: event.content, seq, at, ...sender };
    }
    case "assistant": {
      const reasoning = event.reasoning === undefined ? {} : { reasoning: event.reasoning };
      return { role: "assistant", content: event.content, seq, at, tool_calls: event.tool_calls, ...reasoning };
    }
    case "tool_result": {
      const { call_id, name, output, is_error } = event;
      const denied = event.denied === undefined ? {} : { denied: event.denied };
      return { role: "tool", content: output, seq, at, call_id, name, is_error, ...denied };
    }
    default:
      return null;
  }
}
