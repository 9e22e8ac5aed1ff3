import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WorkstreamRow } from "../contracts/store.ts";
import { type Clock, DAY_MS } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { openStore } from "../store/index.ts";
import { keepRetention } from "./retention.ts";

const START = Date.parse("2026-06-01T00:00:00.000Z");

function rowOf(ws_id: string, days_old: number, set: Partial<WorkstreamRow> = {}): WorkstreamRow {
  const at = new Date(START - days_old * DAY_MS).toISOString();
  const nothing = {
    title: null,
    alias: null,
    parent_ws_id: null,
    parent_call_id: null,
    user_id: null,
    model_alias: null,
  };
  const rest = { state: "idle" as const, turn_open: false, auto_approve: false, auto_approve_tools: [], closed: null };
  const numbers = { context_tokens: 0, last_seq: 0, message_count: 0 };
  return { ws_id, name: ws_id, kind: "main", ...nothing, ...rest, ...numbers, created: at, updated: at, ...set };
}

test("what nobody touched for the retention's days goes at the start and day by day; what is named stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-retention-"));
  const store = await openStore({ path: join(folder, "turnstone.db") });
  try {
    await store.workstreams.create(rowOf("old", 31));
    await store.workstreams.create(rowOf("failed", 31, { state: "error" }));
    await store.workstreams.create(rowOf("named", 31, { alias: "home" }));
    await store.workstreams.create(rowOf("younger", 28));
    const left = async (): Promise<string[]> => {
      const rows = await store.workstreams.list({ limit: 10, include_closed: true });
      return rows.map((row) => row.ws_id).toSorted();
    };
    const days: string[][] = [];
    const stop = new AbortController();
    let now = START;
    const clock: Clock = {
      now: () => now,
      async sleep(milliseconds) {
        days.push(await left());
        now += milliseconds;
        if (days.length === 4) stop.abort();
      },
    };
    await keepRetention(store, 30, { clock, log: silentLog }, stop.signal);
    expect(days).toEqual([["named", "younger"], ["named", "younger"], ["named", "younger"], ["named"]]);
    await keepRetention(store, 0, { clock, log: silentLog }, new AbortController().signal);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
