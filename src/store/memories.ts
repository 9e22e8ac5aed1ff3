import { newId } from "../lib/ids.ts";
import type { MemoryReach, MemoryRow, MemoryScope, MemoryStore } from "../contracts/store.ts";
import type { SearchClient } from "./search_client.ts";
import { ownerTerm, searchText } from "./search_query.ts";
import { clampLimit, cleanText, insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Memories that one answer may hold. */
const LIST_LIMIT_MAX = 1000;

/** Memories that one transaction takes away. */
const REMOVE_PORTION = 500;

const COLUMNS = ["memory_id", "scope", "owner", "key", "value", "created", "updated", "used"] as const;
const SELECT = `select ${COLUMNS.join(", ")} from memories`;

/** The rows a reach covers; each part is answered by the same index. */
export const WITHIN_REACH = `((memories.scope = 'user' and memories.owner = @user_id)
  or (memories.scope = 'workspace' and memories.owner = @workspace)
  or (memories.scope = 'global' and memories.owner = ''))`;

/** The store's memories, with what only its neighbours need. */
export interface Memories extends MemoryStore {
  removeOwner(scope: MemoryScope, owner: string): Promise<void>;
}

/** Memories in SQLite. Being found counts as being used. */
export function createMemories(sql: Sql, writer: Writer, search: SearchClient, now: () => number): Memories {
  return {
    save: (row, at) => writer.write(() => saveMemory(sql, row, at)),
    remove: (scope, owner, key) =>
      writer.write(
        () => removeWhere(sql, "scope = @scope and owner = @owner and key = @key", { scope, owner, key }) > 0,
      ),
    removeById: (memory_id, reach) =>
      writer.write(() => removeWhere(sql, `memory_id = @memory_id and ${WITHIN_REACH}`, { memory_id, ...reach }) > 0),
    async list(reach, limit) {
      return listMemories(sql, reach, clampLimit(limit, LIST_LIMIT_MAX));
    },
    async count(reach) {
      const where = `where ${WITHIN_REACH}`;
      return sql.get<{ count: number }>(`select count(*) as count from memories ${where}`, { ...reach })?.count ?? 0;
    },
    async search(reach, query, limit) {
      const found = await search.memories({ reach, query, limit: clampLimit(limit, LIST_LIMIT_MAX) });
      if (found.length > 0) touch(sql, writer, found, new Date(now()).toISOString());
      return found;
    },
    async removeOwner(scope, owner) {
      const portion = `memory_number in
        (select memory_number from memories where scope = @scope and owner = @owner limit ${REMOVE_PORTION})`;
      while ((await writer.write(() => removeWhere(sql, portion, { scope, owner }))) > 0);
    },
  };
}

function saveMemory(
  sql: Sql,
  row: Parameters<MemoryStore["save"]>[0],
  at: string,
): { memory: MemoryRow; previous: string | null } {
  const value = cleanText(row.value);
  const place = { scope: row.scope, owner: cleanText(row.owner), key: cleanText(row.key) };
  const before = sql.get<{ value: string }>(
    "select value from memories where scope = @scope and owner = @owner and key = @key",
    place,
  );
  const record = sql.get<MemoryRow & { memory_number: number }>(
    `${insertSql("memories", COLUMNS)}
     on conflict (scope, owner, key) do update set value = @value, updated = @updated, used = @used
     returning memory_number, ${COLUMNS.join(", ")}`,
    { ...place, value, memory_id: newId(), created: at, updated: at, used: at },
  );
  if (record === undefined) throw new Error("A saved memory was not answered by the database.");
  const { memory_number, ...memory } = record;
  sql.run(
    "insert or replace into memory_search (rowid, owner, key, value) values (@memory_number, @owner, @key, @value)",
    {
      memory_number,
      owner: ownerTerm(memory.scope, memory.owner),
      key: searchText(memory.key),
      value: searchText(memory.value),
    },
  );
  return { memory, previous: before?.value ?? null };
}

/** `condition` is program text; what it compares with comes as values. */
function removeWhere(sql: Sql, condition: string, values: Record<string, string | null>): number {
  const where = `where ${condition}`;
  sql.run(`delete from memory_search where rowid in (select memory_number from memories ${where})`, values);
  return sql.run(`delete from memories ${where}`, values);
}

/** Three short walks through an index, merged; an `or` would have to sort everything that is in reach. */
function listMemories(sql: Sql, reach: MemoryReach, limit: number): MemoryRow[] {
  const part = (scope: MemoryScope, owner: string): string =>
    `select * from (${SELECT} where scope = '${scope}' and owner = ${owner} order by used desc limit @limit)`;
  const parts = [part("user", "@user_id"), part("workspace", "@workspace"), part("global", "''")].join(" union all ");
  return sql.all<MemoryRow>(`${parts} order by used desc, key limit @limit`, { ...reach, limit });
}

/** Only the order of lists hangs on it, so nobody waits for it and a failure is no failure of the search. */
function touch(sql: Sql, writer: Writer, memories: readonly MemoryRow[], used: string): void {
  const ids = JSON.stringify(memories.map((memory) => memory.memory_id));
  const text =
    "update memories set used = @used where memory_id in (select value from json_each(@ids)) and used < @used";
  writer.write(() => sql.run(text, { used, ids })).catch(() => undefined);
}
