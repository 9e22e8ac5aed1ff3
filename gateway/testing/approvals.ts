import type { ApprovalItem } from "../../src/protocol/approval.ts";
import type { ApprovalResolvedEvent, ApproveRequestEvent } from "../../src/protocol/event.ts";

/** A call that a person is asked about: `ls`, unless said otherwise. */
export function askedItem(overrides: Partial<ApprovalItem> = {}): ApprovalItem {
  return {
    call_id: "call_1",
    header: "bash: ls",
    preview: "ls",
    func_name: "bash",
    approval_label: "bash",
    needs_approval: true,
    error: null,
    ...overrides,
  };
}

/** The question about that one call. */
export const ASKED: ApproveRequestEvent = { type: "approve_request", cycle_id: "cycle_1", items: [askedItem()] };

/** Ada's yes to it. */
export const APPROVED: ApprovalResolvedEvent = {
  type: "approval_resolved",
  cycle_id: "cycle_1",
  call_ids: ["call_1"],
  approved: true,
  calls: { call_1: true },
  feedback: null,
  always: false,
  decided_by: { user_id: "ada", name: "Ada" },
  reason: "person",
};

/** The no that comes of nobody's answer. */
export const EXPIRED: ApprovalResolvedEvent = {
  ...APPROVED,
  approved: false,
  calls: { call_1: false },
  decided_by: null,
  reason: "expired",
};
