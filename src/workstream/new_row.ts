import type { WorkstreamRow } from "../contracts/store.ts";

/** What differs between workstreams that have just been made. */
export type NewWorkstream = Pick<
  WorkstreamRow,
  "ws_id" | "name" | "kind" | "user_id" | "model_alias" | "auto_approve" | "auto_approve_tools" | "created"
> &
  Partial<Pick<WorkstreamRow, "parent_ws_id" | "parent_call_id">>;

/** The row of a workstream in which nothing has happened yet. */
export function newWorkstreamRow(given: NewWorkstream): WorkstreamRow {
  return {
    title: null,
    alias: null,
    parent_ws_id: null,
    parent_call_id: null,
    state: "idle",
    turn_open: false,
    context_tokens: 0,
    last_seq: 0,
    message_count: 0,
    updated: given.created,
    closed: null,
    ...given,
  };
}
