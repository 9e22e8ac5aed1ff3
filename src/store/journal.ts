import { setImmediate as nextTurn } from "node:timers/promises";
import type { JournalEntry, JournalStore, PrivateData, Step } from "../contracts/store.ts";
import type { KeptEvent } from "../protocol/event.ts";
import { applyChange } from "./changes.ts";
import type { SearchIndexer } from "./search_index.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Entries that are read before the event loop gets its turn: a few milliseconds of parsing. */
const READ_PAGE = 500;

const INSERT = insertSql("journal", ["ws_id", "seq", "at", "type", "event", "private"]);

/** Which entries count as messages of the conversation. */
const MESSAGE_TYPES: ReadonlySet<KeptEvent["type"]> = new Set(["user_turn", "assistant", "tool_result"]);

interface EntryRecord {
  ws_id: string;
  seq: number;
  at: string;
  event: string;
  private: string | null;
}

/** The journal in SQLite. */
export function createJournal(sql: Sql, writer: Writer, indexer: SearchIndexer): JournalStore {
  return {
    async commit(step) {
      const entries = await writer.write(() => {
        const made = typeof step === "function" ? step() : step;
        applyStep(sql, made);
        return made.entries.length;
      });
      if (entries > 0) indexer.wake();
    },
    async read(ws_id, after, limit = Infinity) {
      const entries: JournalEntry[] = [];
      let from = after;
      for (;;) {
        const wanted = Math.min(READ_PAGE, limit - entries.length);
        if (!(wanted > 0)) return entries;
        const page = sql.all<EntryRecord>(
          `select ws_id, seq, at, event, private from journal
           where ws_id = @ws_id and seq > @from order by seq limit @wanted`,
          { ws_id, from, wanted: Math.trunc(wanted) },
        );
        for (const record of page) entries.push(sql.understand(() => entryOf(record)));
        if (page.length < wanted) return entries;
        from = entries.at(-1)?.seq ?? from;
        await nextTurn();
      }
    },
    async lastCompaction(ws_id) {
      const record = sql.get<EntryRecord>(
        `select ws_id, seq, at, event, private from journal
         where ws_id = @ws_id and type = 'compaction' order by seq desc limit 1`,
        { ws_id },
      );
      return record === undefined ? null : sql.understand(() => entryOf(record));
    },
  };
}

function applyStep(sql: Sql, step: Step): void {
  const changes = step.changes ?? [];
  for (const change of changes) if (change.kind === "workstream_created") applyChange(sql, step, change);
  advanceWorkstream(sql, step);
  for (const entry of step.entries) {
    sql.run(INSERT, {
      ws_id: entry.ws_id,
      seq: entry.seq,
      at: entry.at,
      type: entry.event.type,
      event: JSON.stringify(entry.event),
      private: entry.private === undefined ? null : JSON.stringify(entry.private),
    });
  }
  for (const change of changes) if (change.kind !== "workstream_created") applyChange(sql, step, change);
}

/** Moves the workstream's row along; its `last_seq` is what makes gaps and repeats impossible. */
function advanceWorkstream(sql: Sql, step: Step): void {
  const { ws_id, entries } = step;
  const row = sql.get<{ last_seq: number }>("select last_seq from workstreams where ws_id = @ws_id", { ws_id });
  if (row === undefined) throw new Error(`A step was committed to workstream ${ws_id}, which does not exist.`);
  let last_seq = row.last_seq;
  for (const entry of entries) {
    if (entry.ws_id !== ws_id) throw new Error(`A step of workstream ${ws_id} holds an entry of ${entry.ws_id}.`);
    if (entry.seq !== last_seq + 1) {
      throw new Error(`Workstream ${ws_id} is at seq ${last_seq}, so seq ${entry.seq} cannot follow.`);
    }
    last_seq = entry.seq;
  }
  sql.run(
    `update workstreams set
       last_seq = @last_seq,
       message_count = message_count + @messages,
       state = coalesce(@state, state),
       turn_open = coalesce(@turn_open, turn_open),
       context_tokens = coalesce(@context_tokens, context_tokens),
       updated = @at
     where ws_id = @ws_id`,
    {
      ws_id,
      last_seq,
      messages: entries.filter((entry) => MESSAGE_TYPES.has(entry.event.type)).length,
      state: step.state ?? null,
      turn_open: step.turn_open ?? null,
      context_tokens: step.context_tokens ?? null,
      at: step.at,
    },
  );
}

function entryOf(record: EntryRecord): JournalEntry {
  const event: KeptEvent = JSON.parse(record.event);
  const entry: JournalEntry = { ws_id: record.ws_id, seq: record.seq, at: record.at, event };
  if (record.private === null) return entry;
  const kept: PrivateData = JSON.parse(record.private);
  return { ...entry, private: kept };
}
