import { DAY_MS } from "../lib/clock.ts";
import { noteRemoved } from "./closings.ts";
import { StoreError } from "./errors.ts";
import type { Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Entries that one transaction takes away, so that a long conversation's end blocks nobody else. */
const PURGE_PORTION = 200;

/** Workstreams that one transaction of `prune` takes away. */
const PRUNE_PORTION = 100;

/** A fresh workstream is kept, whatever the retention says: its first message may be on its way. */
const GRACE_MS = DAY_MS;

export interface PruneOptions {
  /** Days since a workstream last moved. At least 1. */
  retention_days: number;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Takes workstreams away with all that belongs to them, their sub-agents and what search knows of them. */
export interface Removal {
  remove(ws_ids: readonly string[]): Promise<void>;
  /**
   * Removes conversations that are at rest and older than the retention. Keeps what has an alias, an open turn, a
   * queued message or something that waits for a person. Answers how many went.
   */
  prune(options: PruneOptions): Promise<{ removed: number }>;
  /** Finishes removals that a crash cut short. */
  finish(): Promise<void>;
}

/** Removal in SQLite: the rows go at once, the entries after them in small portions. */
export function createRemoval(sql: Sql, writer: Writer, now: () => number): Removal {
  const finish = async (): Promise<void> => {
    while (await writer.write(() => purgePortion(sql)));
  };
  const removal: Removal = {
    async remove(ws_ids) {
      await writer.write(() => removeRows(sql, ws_ids, now()));
      await finish();
    },
    async prune(options) {
      if (!(options.retention_days >= 1)) throw new StoreError("The retention must be one day or more.");
      let removed = 0;
      for (;;) {
        const portion = await writer.write(() => {
          const ws_ids = prunable(sql, options);
          removeRows(sql, ws_ids, options.now);
          return ws_ids.length;
        });
        if (portion === 0) return { removed };
        removed += portion;
        await finish();
      }
    },
    finish,
  };
  return removal;
}

function removeRows(sql: Sql, ws_ids: readonly string[], now: number): void {
  const family = `with recursive family (ws_id) as (
    select value from json_each(@ws_ids)
    union select w.ws_id from workstreams w join family f on w.parent_ws_id = f.ws_id)`;
  const values = { ws_ids: JSON.stringify(ws_ids) };
  sql.run(
    `insert or ignore into removed_workstreams
     ${family} select ws_id from workstreams where ws_id in (select ws_id from family)`,
    values,
  );
  noteRemoved(sql, new Date(now).toISOString());
  sql.run("delete from workstreams where ws_id in (select ws_id from removed_workstreams)");
}

/** Takes some entries of removed workstreams away; false when nothing is left to do. */
function purgePortion(sql: Sql): boolean {
  const entries = sql
    .all<{ entry_number: number }>(
      `select entry_number from journal where ws_id in (select ws_id from removed_workstreams) limit ${PURGE_PORTION}`,
    )
    .map((entry) => entry.entry_number);
  if (entries.length === 0) {
    sql.run("delete from removed_workstreams");
    return false;
  }
  const values = { entries: JSON.stringify(entries) };
  sql.run("delete from conversation_search where rowid in (select value from json_each(@entries))", values);
  sql.run("delete from journal where entry_number in (select value from json_each(@entries))", values);
  // The numbers of the newest entries may be given again; those must not count as indexed.
  sql.run(
    "update search_progress set entry_number = min(entry_number, (select coalesce(max(entry_number), 0) from journal))",
  );
  return true;
}

function prunable(sql: Sql, options: PruneOptions): string[] {
  return sql
    .all<{ ws_id: string }>(
      `select w.ws_id from workstreams w
       where w.updated < @before and w.created < @fresh and w.state in ('idle', 'error') and w.turn_open = 0 and w.alias is null
         and not exists (select 1 from workstreams p where p.ws_id = w.parent_ws_id)
         and not exists (select 1 from workstreams c
           where c.parent_ws_id = w.ws_id and (c.turn_open = 1 or c.alias is not null))
         and not exists (select 1 from messages m where m.ws_id = w.ws_id and m.state = 'queued')
         and not exists (select 1 from approvals a where a.ws_id = w.ws_id and a.state = 'pending')
         and not exists (select 1 from reviews r where r.ws_id = w.ws_id and r.state = 'pending')
       limit ${PRUNE_PORTION}`,
      {
        before: new Date(options.now - options.retention_days * DAY_MS).toISOString(),
        fresh: new Date(options.now - GRACE_MS).toISOString(),
      },
    )
    .map((row) => row.ws_id);
}
