import type { AuditRow, AuditStore } from "../contracts/store.ts";
import { clampLimit, insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** Rows that one answer may hold. */
const LIST_LIMIT_MAX = 1000;

const COLUMNS = ["audit_id", "at", "user_id", "action", "target", "details"] as const;

type AuditRecord = Omit<AuditRow, "details"> & { details: string };

/** Who did what, in SQLite: newest first, `before` a time. */
export function createAudit(sql: Sql, writer: Writer): AuditStore {
  return {
    async add(row) {
      await writer.write(() => sql.run(insertSql("audit", COLUMNS), { ...row, details: JSON.stringify(row.details) }));
    },
    async list(filter) {
      const conditions = [
        ...(filter.before === undefined ? [] : ["at < @before"]),
        ...(filter.action === undefined ? [] : ["action = @action"]),
        ...(filter.user_id === undefined ? [] : ["user_id = @user_id"]),
      ];
      const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
      return sql
        .all<AuditRecord>(
          `select ${COLUMNS.join(", ")} from audit ${where} order by at desc, audit_number desc limit @limit`,
          {
            ...filter,
            limit: clampLimit(filter.limit, LIST_LIMIT_MAX),
          },
        )
        .map((record) => ({ ...record, details: JSON.parse(record.details) }));
    },
  };
}
