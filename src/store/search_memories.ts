import type { MemoryReach, MemoryRow } from "../contracts/store.ts";
import { WITHIN_REACH } from "./memories.ts";
import type { MemoryQuery } from "./search_client.ts";
import { isLiteralWord, ownerTerm, parseQuery, phrases, type SearchQuery } from "./search_query.ts";
import type { ScopeSizes } from "./search_scope.ts";
import type { Sql } from "./sql.ts";

/** Memories and milliseconds that go into reading letter by letter at most, the ones used last first. */
const SCAN_ROWS_MAX = 20_000;
const SCAN_TIME_MS = 1000;

/** The same where something was found already and this could only add to it. */
const SCAN_MORE_ROWS_MAX = 500;

const COLUMNS = ["memory_id", "scope", "owner", "key", "value", "created", "updated", "used"]
  .map((column) => `memories.${column}`)
  .join(", ");

/**
 * Finds memories, best first: those with every word, and for words with punctuation of their own those that hold them
 * letter by letter. Where there is none, those with any of the words; and where there is none of these either, those
 * that hold the words inside longer ones.
 */
export function searchMemories(sql: Sql, scopes: ScopeSizes, { reach, query, limit }: MemoryQuery): MemoryRow[] {
  const parsed = parseQuery(query);
  if (parsed.literal === "") return [];
  const literal_words = parsed.words.filter(isLiteralWord).map((word) => word.toLowerCase());
  const plain_words = parsed.words.filter((word) => !isLiteralWord(word));
  const found = new Map<string, MemoryRow>();
  const add = (rows: Iterable<MemoryRow>, required: readonly string[]): void => {
    for (const row of rows) {
      if (found.size >= limit) return;
      if (required.every((word) => holds(row, word))) found.set(row.memory_id, row);
    }
  };
  const byWords = (words: readonly string[], joiner: "and" | "or", rows: number): MemoryRow[] =>
    words.length === 0 ? [] : rankedRows(sql, scopes, reach, phrases(words, joiner), rows);
  add(byWords(parsed.words, "and", literal_words.length > 0 ? SCAN_ROWS_MAX : limit), literal_words);
  if (literal_words.length > 0 && found.size < limit) {
    add(byLetters(sql, reach, parsed, found.size === 0 ? SCAN_ROWS_MAX : SCAN_MORE_ROWS_MAX), []);
  }
  if (found.size === 0) add(byWords(plain_words, "or", limit), []);
  if (found.size === 0 && literal_words.length === 0) add(byLetters(sql, reach, parsed, SCAN_ROWS_MAX), []);
  return [...found.values()];
}

/**
 * The owner stands in the index like a word, so what belongs to others costs nothing. Only where nearly all is in reach
 * is it quicker to rank first and look at the owner of the best.
 */
function rankedRows(sql: Sql, scopes: ScopeSizes, reach: MemoryReach, words: string, limit: number): MemoryRow[] {
  const owners = [
    ...(reach.user_id === null ? [] : [ownerTerm("user", reach.user_id)]),
    ownerTerm("workspace", reach.workspace),
    ownerTerm("global", ""),
  ];
  const scope = `owner : (${phrases(owners, "or")})`;
  const content = `{key value} : (${words})`;
  const wide = scopes.isWide("memory_search", scope);
  return sql.all<MemoryRow>(
    `select ${COLUMNS} from memory_search cross join memories on memories.memory_number = memory_search.rowid
     where memory_search match @match and rank match 'bm25(0.0, 2.0, 1.0)' and ${WITHIN_REACH}
     order by rank limit @limit`,
    { ...reach, match: wide ? content : `${scope} AND ${content}`, limit },
  );
}

function* byLetters(sql: Sql, reach: MemoryReach, query: SearchQuery, rows_max: number): Generator<MemoryRow> {
  const words = query.words.length > 0 ? query.words.map((word) => word.toLowerCase()) : [query.literal];
  const places = [
    ...(reach.user_id === null ? [] : [{ scope: "user", owner: reach.user_id }]),
    { scope: "workspace", owner: reach.workspace },
    { scope: "global", owner: "" },
  ];
  const until = performance.now() + SCAN_TIME_MS;
  for (const place of places) {
    const rows = sql.iterate<MemoryRow>(
      `select ${COLUMNS} from memories where scope = @scope and owner = @owner order by used desc limit @rows_max`,
      { ...place, rows_max },
    );
    for (const row of rows) {
      if (performance.now() > until) return;
      if (words.every((word) => holds(row, word))) yield row;
    }
  }
}

function holds(row: MemoryRow, word: string): boolean {
  return row.key.toLowerCase().includes(word) || row.value.normalize("NFC").toLowerCase().includes(word);
}
