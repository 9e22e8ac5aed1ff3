import type { Grant } from "../protocol/approval.ts";
import { insertSql, type Sql } from "./sql.ts";

const COLUMNS = ["grant_id", "ws_id", "user_id", "tool", "match", "pattern", "created", "expires", "revoked"] as const;

/** Adds a standing permission. */
export function insertGrant(sql: Sql, grant: Grant): void {
  sql.run(insertSql("grants", COLUMNS), { ...grant });
}

/** All grants that fit the filter, oldest first; revoked and expired ones too, since only the caller knows the time. */
export function listGrants(sql: Sql, filter: { ws_id?: string; user_id?: string }): Grant[] {
  const conditions = [
    ...(filter.ws_id === undefined ? [] : ["ws_id = @ws_id"]),
    ...(filter.user_id === undefined ? [] : ["user_id = @user_id"]),
  ];
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
  return sql.all<Grant>(`select ${COLUMNS.join(", ")} from grants ${where} order by grant_number`, { ...filter });
}

/** Ends a grant; false when there is none or it had ended. */
export function revokeGrant(sql: Sql, grant_id: string, at: string): boolean {
  return (
    sql.run("update grants set revoked = @at where grant_id = @grant_id and revoked is null", { grant_id, at }) > 0
  );
}
