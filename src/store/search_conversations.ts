import type { ConversationHit } from "../contracts/store.ts";
import type { KeptEvent } from "../protocol/event.ts";
import type { ConversationAnswer, ConversationQuery } from "./search_client.ts";
import { roleOf, spokenText } from "./search_index.ts";
import { ownerTerm, parseQuery, phrases, readableSnippet, searchText } from "./search_query.ts";
import { countRows, type ScopeSizes } from "./search_scope.ts";
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
export function searchConversations(
  sql: Sql,
  scratch: Sql,
  scopes: ScopeSizes,
  query: ConversationQuery,
): ConversationAnswer {
  const { words } = parseQuery(query.query);
  if (words.length === 0) return { hits: [], total: 0 };
  const any = phrases(words, "or");
  const found = find(sql, scopes, query, phrases(words, "and"));
  const { records, total } = found.total > 0 || words.length === 1 ? found : find(sql, scopes, query, any);
  return { hits: hitsOf(scratch, records, any), total };
}

/** As with memories: the owner is a word of the index, but where nearly all is theirs it is looked at after ranking. */
function find(
  sql: Sql,
  scopes: ScopeSizes,
  query: ConversationQuery,
  words: string,
): { records: EntryRecord[]; total: number } {
  const { user_id, except_ws_id, limit } = query;
  const scope = `owner : "${ownerTerm("user", user_id)}"`;
  const content = `content : (${words})`;
  const present = except_ws_id === null ? "" : ` NOT owner : "${ownerTerm("workstream", except_ws_id)}"`;
  const narrow = `(${scope} AND ${content})${present}`;
  const records = sql.all<EntryRecord>(
    `select j.entry_number, j.ws_id, w.name, j.seq, j.at, j.type, j.event
     from conversation_search f cross join journal j on j.entry_number = f.rowid
     cross join workstreams w on w.ws_id = j.ws_id
     where conversation_search match @match and rank match 'bm25(0.0, 1.0)'
       and w.user_id = @user_id and w.ws_id is not @except_ws_id
     order by rank limit @limit`,
    { match: scopes.isWide("conversation_search", scope) ? content : narrow, user_id, except_ws_id, limit },
  );
  return { records, total: records.length < limit ? records.length : countRows(sql, "conversation_search", narrow) };
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
    `select rowid as entry_number, snippet(texts, 0, '**', '**', '…', ${SNIPPET_WORDS}) as snippet
     from texts where texts match @marked`,
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
