import type { ApprovalItem } from "../src/protocol/approval.ts";
import { createRecent } from "./recent.ts";

/** What is asked at the moment, so that a press on "Always…" can offer choices. The server tells it again at every connection. */
export interface PendingApprovals {
  set(cycle_id: string, items: readonly ApprovalItem[]): void;
  get(cycle_id: string): readonly ApprovalItem[];
}

const CYCLES_MAX = 1000;

export function createPendingApprovals(): PendingApprovals {
  const cycles = createRecent<readonly ApprovalItem[]>(CYCLES_MAX);
  return { set: (cycle_id, items) => cycles.set(cycle_id, items), get: (cycle_id) => cycles.get(cycle_id) ?? [] };
}
