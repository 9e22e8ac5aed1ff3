import type { Sql } from "./sql.ts";

/** A scope with more than this share of an index is narrowed after ranking. */
const WIDE_SHARE = 1 / 20;

/** Below this size it does not matter. */
const WIDE_ROWS = 10_000;

/** Milliseconds for which a size is believed; counting a million rows takes some twenty. */
const BELIEVED_MS = 300_000;

/** Sizes that are remembered; the oldest is forgotten first. */
const REMEMBERED_MAX = 1000;

/**
 * Knows which scopes hold so much of an index that counting their rows for the ranking would cost more than it saves.
 */
export interface ScopeSizes {
  /** `scope` is an FTS5 expression over the column `owner`. */
  isWide(index: "memory_search" | "conversation_search", scope: string): boolean;
}

/** The sizes of one connection, counted when first asked for. */
export function createScopeSizes(sql: Sql): ScopeSizes {
  const known = new Map<string, { wide: boolean; until: number }>();
  return {
    isWide(index, scope) {
      const name = `${index} ${scope}`;
      const before = known.get(name);
      if (before !== undefined && before.until > performance.now()) return before.wide;
      const rows = countRows(sql, index, scope);
      const wide = rows > WIDE_ROWS && rows > WIDE_SHARE * lastRow(sql, index);
      known.delete(name);
      known.set(name, { wide, until: performance.now() + BELIEVED_MS });
      const oldest = known.size > REMEMBERED_MAX ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      return wide;
    },
  };
}

/** How many rows of an index match an FTS5 expression; no row is read for it. */
export function countRows(sql: Sql, index: "memory_search" | "conversation_search", match: string): number {
  const text = `select count(*) as count from ${index} where ${index} match @match`;
  return sql.get<{ count: number }>(text, { match })?.count ?? 0;
}

/** About how many rows an index has: its highest number, which costs no walk. */
function lastRow(sql: Sql, index: "memory_search" | "conversation_search"): number {
  return sql.get<{ last: number | null }>(`select max(id) as last from ${index}_docsize`)?.last ?? 0;
}
