import { afterEach, expect, test } from "vitest";
import { startEngine } from "../../test/support/engine_rig.ts";
import { says } from "../../test/support/scripted_provider.ts";
import type { WorkstreamRow } from "../contracts/store.ts";

const AT = "2026-01-01T00:00:00.000Z";
const rigs: Awaited<ReturnType<typeof startEngine>>[] = [];

afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

async function start() {
  const rig = await startEngine();
  rigs.push(rig);
  return rig;
}

function rowOf(ws_id: string, set: Partial<WorkstreamRow> = {}): WorkstreamRow {
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
  return { ws_id, name: ws_id, kind: "main", ...nothing, ...rest, ...numbers, created: AT, updated: AT, ...set };
}

type Rig = Awaited<ReturnType<typeof start>>;

/** A workstream whose turn was cut off after its first message. */
async function unfinished({ store }: Rig, ws_id: string, set: Partial<WorkstreamRow> = {}): Promise<void> {
  await store.workstreams.create(rowOf(ws_id, set));
  const entries = [
    { ws_id, seq: 1, at: AT, event: { type: "user_turn" as const, content: "hello", client_send_ids: [] } },
  ];
  await store.journal.commit({ ws_id, at: AT, entries, state: "thinking", turn_open: true });
}

test("a workstream that cannot be read does not keep the others from going on", async () => {
  const rig = await start();
  rig.provider.script(says("Here I am."));
  // Sub-agents do not nest so deeply: the row of the last one is broken.
  for (let depth = 0; depth < 12; depth += 1) {
    const parent = depth === 0 ? {} : { parent_ws_id: `p${depth - 1}` };
    await rig.store.workstreams.create(rowOf(`p${depth}`, parent));
  }
  await unfinished(rig, "broken", { parent_ws_id: "p11", kind: "task" });
  await unfinished(rig, "whole");
  const ws = rig.watch("whole");
  await rig.engine.recover();
  await ws.turnEnded();
  expect(ws.one("assistant").content).toBe("Here I am.");
});

test("a sub-agent whose parent was stopped just before a crash does not go on by itself", async () => {
  const rig = await start();
  await rig.store.workstreams.create(rowOf("parent"));
  await unfinished(rig, "child", { kind: "task", parent_ws_id: "parent", parent_call_id: "c1" });
  const ws = rig.watch("child");
  await rig.engine.recover();
  await ws.turnEnded();
  expect(ws.one("turn_ended").outcome).toBe("cancelled");
  expect(rig.provider.requests).toEqual([]);
});
