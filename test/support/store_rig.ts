import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { JournalEntry, UserRow, WorkstreamRow } from "../../src/contracts/store.ts";
import type { KeptEvent } from "../../src/protocol/event.ts";
import { openStore, type SqliteStore } from "../../src/store/open.ts";

/** For tests: the time at which everything happens unless a test says otherwise. */
export const AT = "2026-01-02T03:04:05.678Z";

/** For tests: a folder that is gone when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For tests: a fresh store that is closed when the test has finished. */
export async function temporaryStore(
  path = join(temporaryFolder(), "turnstone.db"),
  now?: () => number,
): Promise<SqliteStore> {
  const store = await openStore({ path, ...(now === undefined ? {} : { now }) });
  onTestFinished(() => store.close());
  return store;
}

/** For tests: a workstream that has just been made. */
export function workstream(ws_id: string, set: Partial<WorkstreamRow> = {}): WorkstreamRow {
  return {
    ws_id,
    name: `name of ${ws_id}`,
    title: null,
    alias: null,
    kind: "main",
    parent_ws_id: null,
    parent_call_id: null,
    user_id: "anna",
    state: "idle",
    turn_open: false,
    model_alias: null,
    auto_approve: false,
    auto_approve_tools: [],
    context_tokens: 0,
    last_seq: 0,
    message_count: 0,
    created: AT,
    updated: AT,
    closed: null,
    ...set,
  };
}

/** For tests: an entry in which a person says something. */
export function userTurn(ws_id: string, seq: number, content: string): JournalEntry {
  return entry(ws_id, seq, { type: "user_turn", content, client_send_ids: [] });
}

/** For tests: an entry with any event. */
export function entry(ws_id: string, seq: number, event: KeptEvent): JournalEntry {
  return { ws_id, seq, at: AT, event };
}

/** For tests: a person without a password. */
export function user(user_id: string, set: Partial<UserRow> = {}): UserRow {
  return {
    user_id,
    username: user_id,
    display_name: user_id,
    password_hash: null,
    scopes: "read,write",
    created: AT,
    ...set,
  };
}
