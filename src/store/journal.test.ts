import { expect, test } from "vitest";
import { join } from "node:path";
import { AT, entry, temporaryFolder, temporaryStore, userTurn, workstream } from "../../test/support/store_rig.ts";

test("what was committed is read back word for word, private data apart (REQ-STORE-002)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  const event = { type: "info", message: 'NUL \0, half \ud83d, quote " and 漢字' } as const;
  const kept = { ...entry("a", 1, event), private: { context_tokens: 7, expanded_tools: ["x"] } };
  await store.journal.commit({ ws_id: "a", at: AT, entries: [kept, userTurn("a", 2, "hello")] });
  expect(await store.journal.read("a", 0)).toEqual([kept, userTurn("a", 2, "hello")]);
  expect(await store.journal.read("a", 1)).toEqual([userTurn("a", 2, "hello")]);
  expect(await store.journal.read("a", 0, 1)).toEqual([kept]);
  expect(await store.journal.read("a", 0, 0)).toEqual([]);
});

test("a step moves its workstream along", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  const later = "2026-01-02T03:04:06.000Z";
  const step = {
    ws_id: "a",
    at: later,
    entries: [userTurn("a", 1, "hello"), entry("a", 2, { type: "info", message: "hm" })],
  };
  await store.journal.commit({ ...step, state: "thinking", turn_open: true, context_tokens: 12 });
  expect(await store.workstreams.get("a")).toMatchObject({
    state: "thinking",
    turn_open: true,
    context_tokens: 12,
    last_seq: 2,
    message_count: 1,
    updated: later,
  });
  await store.journal.commit({ ws_id: "a", at: later, entries: [], state: "idle" });
  expect(await store.workstreams.get("a")).toMatchObject({
    state: "idle",
    turn_open: true,
    context_tokens: 12,
    last_seq: 2,
  });
});

test("a gap, a repeat, another's entry and an unknown workstream are refused alone (REQ-STORE-001)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  const step = (seq: number, ws_id = "a") =>
    store.journal.commit({ ws_id: "a", at: AT, entries: [userTurn(ws_id, seq, `${seq}`)] });
  const outcomes = await Promise.allSettled([
    step(2),
    step(1),
    step(1),
    step(2),
    step(4),
    step(3, "b"),
    store.journal.commit({ ws_id: "nobody", at: AT, entries: [userTurn("nobody", 1, "x")] }),
    step(3),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? "ok" : String(outcome.reason)))).toEqual([
    "Error: Workstream a is at seq 0, so seq 2 cannot follow.",
    "ok",
    "Error: Workstream a is at seq 1, so seq 1 cannot follow.",
    "ok",
    "Error: Workstream a is at seq 2, so seq 4 cannot follow.",
    "Error: A step of workstream a holds an entry of b.",
    "Error: A step was committed to workstream nobody, which does not exist.",
    "ok",
  ]);
  expect((await store.journal.read("a", 0)).map((kept) => kept.seq)).toEqual([1, 2, 3]);
});

test("a step that fails half way leaves nothing of itself, and what comes after it works (REQ-STORE-003, STOR-16)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  const failing = store.journal.commit({
    ws_id: "a",
    at: AT,
    entries: [userTurn("a", 1, "x")],
    state: "running",
    changes: [{ kind: "message_joined", msg_id: "none" }],
  });
  await expect(failing).rejects.toThrow("Message none is not queued");
  expect(await store.journal.read("a", 0)).toEqual([]);
  expect(await store.workstreams.get("a")).toMatchObject({ state: "idle", last_seq: 0, updated: AT });
  await store.journal.commit({ ws_id: "a", at: AT, entries: [userTurn("a", 1, "y")] });
  expect((await store.journal.read("a", 0)).map(({ event }) => event)).toMatchObject([{ content: "y" }]);
});

test("a step can make its workstream and change it", async () => {
  const store = await temporaryStore();
  await store.journal.commit({
    ws_id: "a",
    at: AT,
    entries: [userTurn("a", 1, "x")],
    changes: [
      { kind: "workstream_changed", set: { title: "T", auto_approve_tools: ["bash"] } },
      { kind: "workstream_created", workstream: workstream("a") },
    ],
  });
  expect(await store.workstreams.get("a")).toMatchObject({ title: "T", auto_approve_tools: ["bash"], last_seq: 1 });
});

// REQ-STORE-004
test("fifty entries of one millisecond and ten thousand in all come back in their order (STOR-10)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  for (let portion = 0; portion < 200; portion += 1) {
    const entries = Array.from({ length: 50 }, (_, index) => userTurn("a", portion * 50 + index + 1, `${index}`));
    await store.journal.commit({ ws_id: "a", at: AT, entries });
  }
  const read = await store.journal.read("a", 0);
  expect(read.map((kept) => kept.seq)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
  expect((await store.journal.read("a", 500, 2500)).at(-1)?.seq).toBe(3000);
});

test("the last compaction is found", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  expect(await store.journal.lastCompaction("a")).toBeNull();
  const compaction = (seq: number) =>
    entry("a", seq, {
      type: "compaction",
      before_tokens: 9,
      after_tokens: 1,
      summary: `to ${seq}`,
      kept_after_seq: seq - 1,
    });
  await store.journal.commit({ ws_id: "a", at: AT, entries: [compaction(1), compaction(2), userTurn("a", 3, "x")] });
  expect(await store.journal.lastCompaction("a")).toEqual(compaction(2));
});

test("a store that is opened again holds what was there", async () => {
  const path = join(temporaryFolder(), "turnstone.db");
  const first = await temporaryStore(path);
  await first.workstreams.create(workstream("a"));
  const pending = first.journal.commit({ ws_id: "a", at: AT, entries: [userTurn("a", 1, "x")] });
  await first.close();
  await pending;
  await expect(first.workstreams.create(workstream("b"))).rejects.toThrow("closed");
  const second = await temporaryStore(path);
  expect(await second.journal.read("a", 0)).toEqual([userTurn("a", 1, "x")]);
});
