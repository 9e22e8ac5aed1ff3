import type { ChannelStore, ClosingRow } from "../contracts/store.ts";
import type { Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

type ClosingMethods = Pick<ChannelStore, "closings" | "closingTold">;
type ClosingRecord = Omit<ClosingRow, "removed" | "leftovers"> & { removed: number; leftovers: string };

const COLUMNS = "channel_type, channel_id, ws_id, name, closed, removed, leftovers";

/** Questions and cards of a turn whose end the place may not have shown yet: its cursor moves at a turn's end. */
const LEFTOVERS = `(select json_group_array(p.message_id) from posted_messages p
  where p.channel_type = r.channel_type and p.channel_id = r.channel_id and p.ws_id = r.ws_id and (
    p.shows in (select 'card:' || a.cycle_id from approvals a where a.ws_id = r.ws_id and a.seq > r.cursor_seq)
    or p.shows in (select 'review:' || v.review_id from reviews v where v.ws_id = r.ws_id and v.seq > r.cursor_seq)
    or p.shows glob 'live:*' and cast(substr(p.shows, 6) as integer) > r.cursor_seq))`;

/** What places must be told of ended conversations, in SQLite. */
export function createClosings(sql: Sql, writer: Writer): ClosingMethods {
  return {
    async closings(channel_type) {
      const text = `select ${COLUMNS} from closings where channel_type = @channel_type order by closed, channel_id`;
      return sql.all<ClosingRecord>(text, { channel_type }).map(closingOf);
    },
    closingTold: (channel_type, channel_id, closed) =>
      writer.write(() => {
        const text = `delete from closings
          where channel_type = @channel_type and channel_id = @channel_id and closed = @closed`;
        return sql.run(text, { channel_type, channel_id, closed }) > 0;
      }),
  };
}

/** Every place of a workstream is to be told that it was closed; null, as when it is opened again, takes that back. */
export function noteClosed(sql: Sql, ws_id: string, closed: string | null): void {
  sql.run("delete from closings where ws_id = @ws_id", { ws_id });
  if (closed === null) return;
  const text = `insert or replace into closings (${COLUMNS})
    select r.channel_type, r.channel_id, r.ws_id, w.name, @closed, 0, '[]'
    from channel_routes r join workstreams w on w.ws_id = r.ws_id where r.ws_id = @ws_id`;
  sql.run(text, { ws_id, closed });
}

/**
 * The places of workstreams that are about to go, which are named in `removed_workstreams`: whoever was told already
 * that it is closed needs no more.
 */
export function noteRemoved(sql: Sql, at: string): void {
  const removed = "(select ws_id from removed_workstreams)";
  sql.run(
    `insert or ignore into closings (${COLUMNS})
     select r.channel_type, r.channel_id, r.ws_id, w.name, @at, 0, '[]'
     from channel_routes r join workstreams w on w.ws_id = r.ws_id where w.ws_id in ${removed} and w.closed is null`,
    { at },
  );
  sql.run(
    `update closings set removed = 1, leftovers = coalesce(
       (select ${LEFTOVERS} from channel_routes r
        where r.channel_type = closings.channel_type and r.channel_id = closings.channel_id), '[]')
     where removed = 0 and ws_id in ${removed}`,
  );
}

/** A place that is gone is told nothing. */
export function forgetClosing(sql: Sql, channel_type: string, channel_id: string): void {
  sql.run("delete from closings where channel_type = @channel_type and channel_id = @channel_id", {
    channel_type,
    channel_id,
  });
}

function closingOf(record: ClosingRecord): ClosingRow {
  return { ...record, removed: record.removed === 1, leftovers: JSON.parse(record.leftovers) };
}
