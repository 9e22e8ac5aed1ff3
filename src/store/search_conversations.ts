import type { ConversationHit } from "../contracts/store.ts";
import type { KeptEvent } from "../protocol/event.ts";
import type { ConversationAnswer, ConversationQuery } from "./search_client.ts";
import { roleOf, spokenText } from "./search_index.ts";
import { ownerTerm, parseQuery, phrases, readableSnippet, searchText } from "./search_query.ts";
import type { Sql } from "./sql.ts";

/** Words that a snippet shows. */
const SNIPPET_WORDS = 32;

interface EntryRecord {
  entry_number: number;
  ws_id: string;
  name: string;
  seq: number;
  at: string;
  type: KeptEvent["type"];
  event: string;
}

/** Finds what was said, best first: with every word, or where nothing has all of them, with any. */
export function searchConversations(sql: Sql, scratch: Sql, query: ConversationQuery): ConversationAnswer {
  const { words } = parseQuery(query.query);
  if (words.length === 0) return { hits: [], total: 0 };
  const all = find(sql, scratch, query, phrases(words, "and"), phrases(words, "or"));
  if (all.total > 0 || words.length === 1) return all;
  return find(sql, scratch, query, phrases(words, "or"), phrases(words, "or"));
}

function find(sql: Sql, scratch: Sql, query: ConversationQuery, content: string, marked: string): ConversationAnswer {
  const narrowed = `(owner : "${ownerTerm("user", query.user_id)}" AND content : (${content}))`;
  const match =
    query.except_ws_id === null ? narrowed : `${narrowed} NOT owner : "${ownerTerm("workstream", query.except_ws_id)}"`;
  const records = sql.all<EntryRecord>(
    `select j.entry_number, j.ws_id, w.name, j.seq, j.at, j.type, j.event
     from (select rowid, bm25(conversation_search, 0, 1) as score from conversation_search
           where conversation_search match @match order by score limit @limit) f
     join journal j on j.entry_number = f.rowid
     join workstreams w on w.ws_id = j.ws_id and w.user_id = @user_id
     order by f.score, j.at desc`,
    { match, limit: query.limit, user_id: query.user_id },
  );
  return {
    hits: hitsOf(scratch, records, marked),
    total: records.length < query.limit ? records.length : count(sql, match),
  };
}

function count(sql: Sql, match: string): number {
  const text = "select count(*) as count from conversation_search where conversation_search match @match";
  return sql.get<{ count: number }>(text, { match })?.count ?? 0;
}

/** The index holds no text, so the few texts that are shown are indexed once more, in memory, to cut and mark them. */
function hitsOf(scratch: Sql, records: readonly EntryRecord[], marked: string): ConversationHit[] {
  scratch.run("begin");
  for (const record of records) {
    const content = searchText(spokenText(JSON.parse(record.event)));
    scratch.run("insert into texts (rowid, content) values (@entry_number, @content)", {
      entry_number: record.entry_number,
      content,
    });
  }
  const cuts = scratch.all<{ entry_number: number; snippet: string }>(
    `select rowid as entry_number, snippet(texts, 0, '**', '**', '…', ${SNIPPET_WORDS}) as snippet from texts where texts match @marked`,
    { marked },
  );
  scratch.run("rollback");
  const snippets = new Map(cuts.map((cut) => [cut.entry_number, readableSnippet(cut.snippet)]));
  return records.flatMap((record) => {
    const role = roleOf(record.type);
    if (role === null) return [];
    const { ws_id, name, seq, at } = record;
    return [{ ws_id, name, seq, at, role, snippet: snippets.get(record.entry_number) ?? "" }];
  });
}
