import type { MemoryReach, MemoryRow } from "../contracts/store.ts";
import type { MemoryQuery } from "./search_client.ts";
import { isLiteralWord, ownerTerm, parseQuery, phrases, type SearchQuery } from "./search_query.ts";
import type { Sql } from "./sql.ts";

/** Memories that are read letter by letter at most, the ones used last first. */
const SCAN_ROWS_MAX = 20_000;

const COLUMNS = "m.memory_id, m.scope, m.owner, m.key, m.value, m.created, m.updated, m.used";

/**
 * Finds memories by words, best first: those with every word; those that hold the query letter by letter, which the index
 * cannot see inside a word; and when there is none, those with any of the words.
 */
export function searchMemories(sql: Sql, { reach, query, limit }: MemoryQuery): MemoryRow[] {
  const parsed = parseQuery(query);
  if (parsed.literal === "") return [];
  const literal_words = parsed.words.filter(isLiteralWord).map((word) => word.toLowerCase());
  const found = new Map<string, MemoryRow>();
  const add = (rows: Iterable<MemoryRow>): void => {
    for (const row of rows) {
      if (found.size >= limit) return;
      if (literal_words.every((word) => holds(row, word))) found.set(row.memory_id, row);
    }
  };
  if (parsed.words.length > 0) {
    add(byWords(sql, reach, parsed.words, "and", literal_words.length > 0 ? SCAN_ROWS_MAX : limit));
  }
  if (found.size === 0 || (literal_words.length > 0 && found.size < limit)) add(byLetters(sql, reach, parsed));
  const plain_words = parsed.words.filter((word) => !isLiteralWord(word));
  if (found.size === 0 && plain_words.length > 0) {
    for (const row of byWords(sql, reach, plain_words, "or", limit)) found.set(row.memory_id, row);
  }
  return [...found.values()];
}

function byWords(
  sql: Sql,
  reach: MemoryReach,
  words: readonly string[],
  joiner: "and" | "or",
  limit: number,
): MemoryRow[] {
  const owners = [
    ...(reach.user_id === null ? [] : [ownerTerm("user", reach.user_id)]),
    ownerTerm("workspace", reach.workspace),
    ownerTerm("global", ""),
  ];
  return sql.all<MemoryRow>(
    `select ${COLUMNS}
     from (select rowid, bm25(memory_search, 0, 2, 1) as score from memory_search where memory_search match @match
           order by score limit @limit) f
     join memories m on m.memory_number = f.rowid
     order by f.score, m.used desc`,
    { match: `owner : (${phrases(owners, "or")}) AND {key value} : (${phrases(words, joiner)})`, limit },
  );
}

function* byLetters(sql: Sql, reach: MemoryReach, query: SearchQuery): Generator<MemoryRow> {
  const words = query.words.length > 0 ? query.words.map((word) => word.toLowerCase()) : [query.literal];
  const places = [
    ...(reach.user_id === null ? [] : [{ scope: "user", owner: reach.user_id }]),
    { scope: "workspace", owner: reach.workspace },
    { scope: "global", owner: "" },
  ];
  for (const place of places) {
    const rows = sql.all<MemoryRow>(
      `select ${COLUMNS} from memories m where m.scope = @scope and m.owner = @owner
       order by m.used desc limit ${SCAN_ROWS_MAX}`,
      place,
    );
    for (const row of rows) if (words.every((word) => holds(row, word))) yield row;
  }
}

function holds(row: MemoryRow, word: string): boolean {
  return row.key.toLowerCase().includes(word) || row.value.normalize("NFC").toLowerCase().includes(word);
}
