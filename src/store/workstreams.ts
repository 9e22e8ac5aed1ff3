import type { WorkstreamRow, WorkstreamStore } from "../contracts/store.ts";
import { WORKSTREAM_STATES, type WorkstreamState } from "../protocol/workstream.ts";
import { noteClosed } from "./closings.ts";
import type { Removal } from "./removal.ts";
import { clampLimit, insertSql, type Sql, type SqlRecord } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Rows that one page may hold. */
const LIST_LIMIT_MAX = 10_000;

const COLUMNS = [
  "ws_id",
  "name",
  "title",
  "alias",
  "kind",
  "parent_ws_id",
  "parent_call_id",
  "user_id",
  "state",
  "turn_open",
  "model_alias",
  "auto_approve",
  "auto_approve_tools",
  "context_tokens",
  "last_seq",
  "message_count",
  "created",
  "updated",
  "closed",
] as const;
const SELECT = `select ${COLUMNS.map((column) => `w.${column}`).join(", ")} from workstreams w`;

/** What may be set on a workstream outside of its journal's own movement. */
const SETTABLE = ["name", "title", "alias", "model_alias", "auto_approve", "auto_approve_tools", "closed"] as const;

type WorkstreamRecord = Omit<WorkstreamRow, "turn_open" | "auto_approve" | "auto_approve_tools"> & {
  turn_open: number;
  auto_approve: number;
  auto_approve_tools: string;
};
type Settable = Parameters<WorkstreamStore["update"]>[1];
type ListFilter = Parameters<WorkstreamStore["list"]>[0];

/** Workstreams in SQLite. */
export function createWorkstreams(sql: Sql, writer: Writer, removal: Removal): WorkstreamStore {
  const select = (rest: string, values: SqlRecord = {}): WorkstreamRow[] =>
    sql.all<WorkstreamRecord>(`${SELECT} ${rest}`, values).map(workstreamOf);
  return {
    create: (row) => writer.write(() => insertWorkstream(sql, row)),
    async get(ws_id) {
      return select("where w.ws_id = @ws_id", { ws_id })[0] ?? null;
    },
    async resolve(name) {
      const exact = select("where w.alias = @name", { name })[0] ?? select("where w.ws_id = @name", { name })[0];
      if (exact !== undefined || name === "") return exact ?? null;
      // U+10FFFF sorts behind every other character, so the range is what begins with the name and an index answers it.
      const beginning = select("where w.ws_id >= @name and w.ws_id < @name || char(0x10ffff) limit 2", { name });
      return beginning.length === 1 ? (beginning[0] ?? null) : null;
    },
    async list(filter) {
      return select(listClauses(filter), {
        user_id: filter.user_id ?? null,
        after: filter.after ?? null,
        kinds: JSON.stringify(filter.kinds ?? []),
        limit: clampLimit(filter.limit, LIST_LIMIT_MAX),
      });
    },
    async children(ws_id) {
      return select("where w.parent_ws_id = @ws_id order by w.created, w.workstream_number", { ws_id });
    },
    async unfinished() {
      return select(
        `where w.ws_id in (select ws_id from workstreams where turn_open = 1
           union select ws_id from messages where state = 'queued') order by w.workstream_number`,
      );
    },
    async restingSince(since, limit) {
      return select(
        `where w.updated >= @since and w.turn_open = 0 and w.kind = 'main' and w.closed is null and w.last_seq > 0
           order by w.updated desc limit @limit`,
        { since, limit: clampLimit(limit, LIST_LIMIT_MAX) },
      );
    },
    async count() {
      return countStates(sql);
    },
    update: (ws_id, set) => writer.write(() => updateWorkstream(sql, ws_id, set)),
    remove: (ws_id) => removal.remove([ws_id]),
    async invite(ws_id, user_id) {
      await writer.write(() =>
        sql.run("insert or ignore into workstream_guests values (@ws_id, @user_id)", { ws_id, user_id }),
      );
    },
    async isInvited(ws_id, user_id) {
      return (
        sql.get("select 1 from workstream_guests where ws_id = @ws_id and user_id = @user_id", { ws_id, user_id }) !==
        undefined
      );
    },
  };
}

/** Adds a workstream; false when its id or alias is taken, also by one that is still being removed. */
export function insertWorkstream(sql: Sql, row: WorkstreamRow): boolean {
  if (sql.get("select 1 from removed_workstreams where ws_id = @ws_id", { ws_id: row.ws_id }) !== undefined) {
    return false;
  }
  const values = { ...row, auto_approve_tools: JSON.stringify(row.auto_approve_tools) };
  return sql.run(`${insertSql("workstreams", COLUMNS)} on conflict do nothing`, values) > 0;
}

/** Sets what is given. Throws when the workstream does not exist or the alias is taken. */
export function updateWorkstream(sql: Sql, ws_id: string, set: Settable): void {
  const columns = SETTABLE.filter((column) => set[column] !== undefined);
  if (columns.length === 0) return;
  const { auto_approve_tools, ...plain } = set;
  const tools = auto_approve_tools === undefined ? null : JSON.stringify(auto_approve_tools);
  const changed = sql.run(
    `update workstreams set ${columns.map((column) => `${column} = @${column}`).join(", ")} where ws_id = @ws_id`,
    { ...plain, ws_id, auto_approve_tools: tools },
  );
  if (changed === 0) throw new Error(`Workstream ${ws_id} does not exist, so it cannot be changed.`);
  if (set.closed !== undefined) noteClosed(sql, ws_id, set.closed);
}

const NEWEST_FIRST = "order by w.created desc, w.workstream_number desc limit @limit";

/** Each form of the list is answered by an index of its own; `after` is the last id of the page before. */
function listClauses(filter: ListFilter): string {
  const conditions = [
    ...(filter.include_closed === true ? [] : ["w.closed is null"]),
    ...(filter.kinds === undefined ? [] : ["w.kind in (select value from json_each(@kinds))"]),
    ...(filter.after === undefined
      ? []
      : [
          `(w.created, w.workstream_number) <
             (select created, workstream_number from workstreams where ws_id = @after)`,
        ]),
  ];
  const where = (...whose: string[]): string => {
    const all = [...whose, ...conditions];
    return `${all.length === 0 ? "" : `where ${all.join(" and ")}`} ${NEWEST_FIRST}`;
  };
  if (filter.user_id === undefined) return where();
  const own = where("w.user_id = @user_id");
  return filter.with_invited === true ? where(`w.workstream_number in (${withinSight(own)})`) : own;
}

/**
 * A person's own, those where they are a guest, and the sub-agents of these. One condition with "or" would look at every
 * row; here each part has an index, and of a person's own no more is read than the page can hold.
 */
function withinSight(own: string): string {
  const guest = "(select ws_id from workstream_guests where user_id = @user_id)";
  return `select workstream_number from (select w.workstream_number from workstreams w ${own})
    union select workstream_number from workstreams where ws_id in ${guest}
    union select workstream_number from workstreams where parent_ws_id in ${guest}`;
}

/** Counts the open workstreams by state; idle ones are what is left of all, so that they cost no look at rows. */
function countStates(sql: Sql): Record<WorkstreamState, number> {
  const counts: Record<WorkstreamState, number> = { idle: 0, thinking: 0, running: 0, attention: 0, error: 0 };
  const busy = sql.all<{ state: WorkstreamState; count: number }>(
    "select state, count(*) as count from workstreams where state <> 'idle' and closed is null group by state",
  );
  for (const { state, count } of busy) counts[state] = count;
  const all = sql.get<{ count: number }>("select count(*) as count from workstreams where closed is null")?.count ?? 0;
  counts.idle = all - WORKSTREAM_STATES.reduce((sum, state) => sum + counts[state], 0);
  return counts;
}

function workstreamOf(record: WorkstreamRecord): WorkstreamRow {
  return {
    ...record,
    turn_open: record.turn_open === 1,
    auto_approve: record.auto_approve === 1,
    auto_approve_tools: JSON.parse(record.auto_approve_tools),
  };
}
