import type { ApprovalRow, ApprovalStore, Change, ReviewRow } from "../contracts/store.ts";
import { listGrants, revokeGrant } from "./grants.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const APPROVAL_COLUMNS = [
  "cycle_id",
  "ws_id",
  "seq",
  "items",
  "decisions",
  "state",
  "approved",
  "decided_by",
  "reason",
  "decided",
  "created",
  "expires",
] as const;
const REVIEW_COLUMNS = [
  "review_id",
  "ws_id",
  "seq",
  "call_id",
  "content",
  "round",
  "state",
  "feedback",
  "decided_by",
  "created",
] as const;
const SELECT_APPROVAL = `select ${APPROVAL_COLUMNS.join(", ")} from approvals`;
const SELECT_REVIEW = `select ${REVIEW_COLUMNS.join(", ")} from reviews`;

type ApprovalRecord = Omit<ApprovalRow, "items" | "decisions" | "approved" | "decided_by"> & {
  items: string;
  decisions: string;
  approved: number | null;
  decided_by: string | null;
};
type ReviewRecord = Omit<ReviewRow, "decided_by"> & { decided_by: string | null };

/** Approvals, plan reviews and grants in SQLite. */
export function createApprovals(sql: Sql, writer: Writer): ApprovalStore {
  return {
    async get(cycle_id) {
      const record = sql.get<ApprovalRecord>(`${SELECT_APPROVAL} where cycle_id = @cycle_id`, { cycle_id });
      return record === undefined ? null : approvalOf(record);
    },
    async pending(ws_id) {
      const where = "where ws_id = @ws_id and state = 'pending' order by seq";
      return sql.all<ApprovalRecord>(`${SELECT_APPROVAL} ${where}`, { ws_id }).map(approvalOf);
    },
    async review(review_id) {
      const record = sql.get<ReviewRecord>(`${SELECT_REVIEW} where review_id = @review_id`, { review_id });
      return record === undefined ? null : reviewOf(record);
    },
    async pendingReviews(ws_id) {
      const where = "where ws_id = @ws_id and state = 'pending' order by seq";
      return sql.all<ReviewRecord>(`${SELECT_REVIEW} ${where}`, { ws_id }).map(reviewOf);
    },
    async grants(filter) {
      return listGrants(sql, filter);
    },
    revokeGrant: (grant_id, at) => writer.write(() => revokeGrant(sql, grant_id, at)),
  };
}

/** Adds an approval cycle that waits for a person. */
export function insertApproval(sql: Sql, approval: ApprovalRow): void {
  sql.run(insertSql("approvals", APPROVAL_COLUMNS), {
    ...approval,
    items: JSON.stringify(approval.items),
    decisions: JSON.stringify(approval.decisions),
    decided_by: jsonOrNull(approval.decided_by),
  });
}

/** Keeps what was decided. The first settlement wins: throws when the cycle is settled already. */
export function settleApproval(sql: Sql, change: Extract<Change, { kind: "approval_settled" }>): void {
  const settled = sql.run(
    `update approvals set decisions = @decisions, state = @state, approved = @approved, decided_by = @decided_by,
       reason = @reason, decided = @at
     where cycle_id = @cycle_id and state = 'pending'`,
    {
      cycle_id: change.cycle_id,
      decisions: JSON.stringify(change.decisions),
      state: change.state,
      approved: change.approved,
      decided_by: jsonOrNull(change.decided_by),
      reason: change.reason,
      at: change.at,
    },
  );
  if (settled === 0) throw new Error(`Approval cycle ${change.cycle_id} is not pending, so it cannot be settled.`);
}

/** Adds a plan review that waits for a person. */
export function insertReview(sql: Sql, review: ReviewRow): void {
  sql.run(insertSql("reviews", REVIEW_COLUMNS), { ...review, decided_by: jsonOrNull(review.decided_by) });
}

/** Keeps the answer to a plan review. Throws when there is one already. */
export function settleReview(sql: Sql, change: Extract<Change, { kind: "review_settled" }>): void {
  const settled = sql.run(
    `update reviews set state = 'settled', feedback = @feedback, decided_by = @decided_by, decided = @at
     where review_id = @review_id and state = 'pending'`,
    {
      review_id: change.review_id,
      feedback: change.feedback,
      decided_by: jsonOrNull(change.decided_by),
      at: change.at,
    },
  );
  if (settled === 0) throw new Error(`Plan review ${change.review_id} is not pending, so it cannot be settled.`);
}

function approvalOf(record: ApprovalRecord): ApprovalRow {
  return {
    ...record,
    items: JSON.parse(record.items),
    decisions: JSON.parse(record.decisions),
    approved: record.approved === null ? null : record.approved === 1,
    decided_by: record.decided_by === null ? null : JSON.parse(record.decided_by),
  };
}

function reviewOf(record: ReviewRecord): ReviewRow {
  return { ...record, decided_by: record.decided_by === null ? null : JSON.parse(record.decided_by) };
}

function jsonOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
