import type { ApprovalItem } from "../src/protocol/approval.ts";
import { createRecent } from "./recent.ts";

/**
 * What is asked at the moment, and what was answered lately, so that a press on "Always…" can offer choices and a late
 * press learns who was first. Only a convenience: the server tells open questions again at every connection, and
 * refuses late answers.
 */
export interface PendingApprovals {
  set(cycle_id: string, items: readonly ApprovalItem[]): void;
  items(cycle_id: string): readonly ApprovalItem[];
  /** One line about how it was decided, such as `✅ Approved by Ada at 12:03`. */
  settle(cycle_id: string, decision: string): void;
  decision(cycle_id: string): string | null;
}

const CYCLES_MAX = 1000;

export function createPendingApprovals(): PendingApprovals {
  const asked = createRecent<readonly ApprovalItem[]>(CYCLES_MAX);
  const settled = createRecent<string>(CYCLES_MAX);
  return {
    set: (cycle_id, items) => asked.set(cycle_id, items),
    items: (cycle_id) => asked.get(cycle_id) ?? [],
    settle: (cycle_id, decision) => settled.set(cycle_id, decision),
    decision: (cycle_id) => settled.get(cycle_id) ?? null,
  };
}
