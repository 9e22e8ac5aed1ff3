import type { KeptEvent } from "../protocol/event.ts";
import { ownerTerm, searchText } from "./search_query.ts";
import type { Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Milliseconds from a new entry until it is indexed, unless a search comes first: a step need not pay for it. */
const INDEX_DELAY_MS = 200;

/** Entries and milliseconds that one transaction indexes at most, so that steps are not held up. */
const INDEX_PORTION = 200;
const INDEX_TIME_MS = 4;

/** Brings the index of conversations up to the journal. The journal tells how far it is, so a crash loses nothing. */
export interface SearchIndexer {
  /** New entries have come. */
  wake(): void;
  /** Resolves when everything that was committed before the call is in the index. */
  catchUp(): Promise<void>;
  close(): void;
}

interface EntryRecord {
  entry_number: number;
  ws_id: string;
  type: KeptEvent["type"];
  event: string;
  user_id: string;
}

/** The indexer of a database; one per process. */
export function createSearchIndexer(sql: Sql, writer: Writer): SearchIndexer {
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  const catchUp = async (): Promise<void> => {
    for (;;) {
      if (closed || !hasPending(sql)) return;
      await writer.write(() => indexPortion(sql));
    }
  };
  return {
    wake() {
      if (timer !== null || closed) return;
      timer = setTimeout(() => {
        timer = null;
        // A disk that is full now is tried again with the next entry or search; until then the index is only behind.
        catchUp().catch(() => undefined);
      }, INDEX_DELAY_MS);
      timer.unref();
    },
    catchUp,
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function hasPending(sql: Sql): boolean {
  const newest = "select 1 from journal where entry_number > (select entry_number from search_progress) limit 1";
  return sql.get(newest) !== undefined;
}

function indexPortion(sql: Sql): void {
  const until = performance.now() + INDEX_TIME_MS;
  const pending = sql.all<{ entry_number: number }>(
    `select entry_number from journal where entry_number > (select entry_number from search_progress)
     order by entry_number limit ${INDEX_PORTION}`,
  );
  let indexed = 0;
  for (const { entry_number } of pending) {
    if (indexed > 0 && performance.now() > until) break;
    indexEntry(sql, entry_number);
    indexed = entry_number;
  }
  if (indexed > 0) sql.run("update search_progress set entry_number = @indexed", { indexed });
}

/** Entries of nobody are left out, since every search is for somebody. */
function indexEntry(sql: Sql, entry_number: number): void {
  const record = sql.get<EntryRecord>(
    `select j.entry_number, j.ws_id, j.type, j.event, w.user_id
     from journal j join workstreams w on w.ws_id = j.ws_id and w.user_id is not null
     where j.entry_number = @entry_number`,
    { entry_number },
  );
  if (record === undefined || roleOf(record.type) === null) return;
  const content = spokenText(JSON.parse(record.event));
  if (content.trim() === "") return;
  sql.run(
    "insert or replace into conversation_search (rowid, owner, content) values (@entry_number, @owner, @content)",
    {
      entry_number: record.entry_number,
      owner: `${ownerTerm("user", record.user_id)} ${ownerTerm("workstream", record.ws_id)}`,
      content: searchText(content),
    },
  );
}

/** Who speaks in an entry; null for entries that are not searched. */
export function roleOf(type: KeptEvent["type"]): "user" | "assistant" | "tool" | null {
  if (type === "user_turn") return "user";
  if (type === "assistant") return "assistant";
  return type === "tool_result" ? "tool" : null;
}

/** What is said in an entry, as far as it is searched. */
export function spokenText(event: KeptEvent): string {
  if (event.type === "user_turn" || event.type === "assistant") return event.content;
  return event.type === "tool_result" ? event.output : "";
}
