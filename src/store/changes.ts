import type { Change, Step } from "../contracts/store.ts";
import { insertApproval, insertReview, settleApproval, settleReview } from "./approvals.ts";
import { insertGrant } from "./grants.ts";
import { insertMessage, moveMessage } from "./messages.ts";
import type { Sql } from "./sql.ts";
import { insertUsage } from "./usage.ts";
import { insertWorkstream, updateWorkstream } from "./workstreams.ts";

/** Applies one change inside the running transaction; throws when it contradicts what is stored. */
export function applyChange(sql: Sql, step: Step, change: Change): void {
  switch (change.kind) {
    case "message_accepted":
      return insertMessage(sql, change.message);
    case "message_joined":
      return moveMessage(sql, change.msg_id, "joined");
    case "message_withdrawn":
      return moveMessage(sql, change.msg_id, "withdrawn");
    case "approval_opened":
      return insertApproval(sql, change.approval);
    case "approval_settled":
      return settleApproval(sql, change);
    case "review_opened":
      return insertReview(sql, change.review);
    case "review_settled":
      return settleReview(sql, change);
    case "grant_added":
      return insertGrant(sql, change.grant);
    case "usage_added":
      return insertUsage(sql, change.usage);
    case "workstream_created":
      if (insertWorkstream(sql, change.workstream)) return;
      throw new Error(`Workstream ${change.workstream.ws_id} or its alias exists already.`);
    case "workstream_changed":
      return updateWorkstream(sql, step.ws_id, change.set);
    default:
      return change satisfies never;
  }
}
