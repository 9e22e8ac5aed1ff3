import { expect, test } from "vitest";
import type { MessageRow } from "../contracts/store.ts";
import { AT, temporaryStore, userTurn, workstream } from "../../test/support/store_rig.ts";

function queued(ws_id: string, msg_id: string): MessageRow {
  return {
    msg_id,
    ws_id,
    client_send_id: null,
    state: "queued",
    answered: "queued",
    content: "later",
    attachments: [],
    sender: null,
    source: "api",
    created: AT,
  };
}

test("a workstream is found by alias, id or a beginning that only it has (STOR-19)", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("abc1", { alias: "home" }));
  await store.workstreams.create(workstream("abc2"));
  await store.workstreams.create(workstream("abd"));
  const found = async (name: string): Promise<string | null> => (await store.workstreams.resolve(name))?.ws_id ?? null;
  expect(await found("home")).toBe("abc1");
  expect(await found("abc2")).toBe("abc2");
  expect(await found("abd")).toBe("abd");
  expect(await found("abc")).toBeNull();
  for (const name of ["%", "_", "a%", "abd%", "", "zzz", "constructor", "a\0"]) expect(await found(name)).toBeNull();
});

test("an id or alias is given once", async () => {
  const store = await temporaryStore();
  expect(await store.workstreams.create(workstream("a", { alias: "home" }))).toBe(true);
  expect(await store.workstreams.create(workstream("a"))).toBe(false);
  expect(await store.workstreams.create(workstream("b", { alias: "home" }))).toBe(false);
  await store.workstreams.create(workstream("b"));
  await expect(store.workstreams.update("b", { alias: "home" })).rejects.toThrow("workstreams.alias");
  await store.workstreams.update("b", { alias: "work", auto_approve: true, closed: AT });
  expect(await store.workstreams.get("b")).toMatchObject({ alias: "work", auto_approve: true, closed: AT });
  await store.workstreams.update("b", { alias: null });
  expect(await store.workstreams.get("b")).toMatchObject({ alias: null, auto_approve: true });
  await expect(store.workstreams.update("none", { name: "x" })).rejects.toThrow("does not exist");
});

test("the list comes newest first in pages, by owner, kind and whether closed (STOR-04, REQ-STORE-016)", async () => {
  const store = await temporaryStore();
  for (let index = 0; index < 9; index += 1) {
    await store.workstreams.create(
      workstream(`w${index}`, {
        created: `2026-01-0${Math.floor(index / 2) + 1}T00:00:00.000Z`,
        user_id: index === 4 ? "bert" : "anna",
        kind: index === 5 ? "task" : "main",
        closed: index === 6 ? AT : null,
      }),
    );
  }
  const ids = async (filter: Parameters<typeof store.workstreams.list>[0]): Promise<string> =>
    (await store.workstreams.list(filter)).map((row) => row.ws_id).join(" ");
  expect(await ids({ limit: 50, include_closed: true })).toBe("w8 w7 w6 w5 w4 w3 w2 w1 w0");
  expect(await ids({ limit: 3, user_id: "anna", kinds: ["main"] })).toBe("w8 w7 w3");
  expect(await ids({ limit: 3, user_id: "anna", kinds: ["main"], after: "w3" })).toBe("w2 w1 w0");
  expect(await ids({ limit: 3, user_id: "anna", after: "w0" })).toBe("");
  expect(await ids({ limit: 2, kinds: ["task", "plan"] })).toBe("w5");
  for (const limit of [-1, 0, Number.NaN, 0.5]) expect(await ids({ limit })).toBe("w8");
  expect(await ids({ limit: 1e9, user_id: "bert" })).toBe("w4");
});

test("a guest's list holds theirs, the shared ones and their sub-agents, newest first in pages", async () => {
  const store = await temporaryStore();
  const rows = [
    ["w0", { user_id: "bert" }],
    ["w1", { user_id: "anna" }],
    ["w2", { user_id: "anna", parent_ws_id: "w1", kind: "task" }],
    ["w3", { user_id: "bert" }],
    ["w4", { user_id: "anna" }],
    ["w5", { user_id: "bert", closed: AT }],
    ["w6", { user_id: "anna", parent_ws_id: "w4", kind: "task" }],
  ] as const;
  for (const [index, [ws_id, values]] of rows.entries()) {
    await store.workstreams.create(workstream(ws_id, { ...values, created: `2026-01-0${index + 1}T00:00:00.000Z` }));
  }
  await store.workstreams.invite("w1", "bert");
  const ids = async (filter: Partial<Parameters<typeof store.workstreams.list>[0]>): Promise<string> =>
    (await store.workstreams.list({ user_id: "bert", with_invited: true, limit: 50, ...filter }))
      .map((row) => row.ws_id)
      .join(" ");
  expect(await ids({})).toBe("w3 w2 w1 w0");
  expect(await ids({ include_closed: true })).toBe("w5 w3 w2 w1 w0");
  expect(await ids({ limit: 2 })).toBe("w3 w2");
  expect(await ids({ limit: 2, after: "w2" })).toBe("w1 w0");
  expect(await ids({ kinds: ["main"] })).toBe("w3 w1 w0");
  expect(await ids({ with_invited: false })).toBe("w3 w0");
});

test("what is unfinished is found, and open ones are counted by state", async () => {
  const store = await temporaryStore();
  for (const ws_id of ["a", "b", "c", "d"]) await store.workstreams.create(workstream(ws_id));
  await store.workstreams.create(workstream("e", { closed: AT }));
  await store.journal.commit({
    ws_id: "b",
    at: AT,
    entries: [userTurn("b", 1, "x")],
    turn_open: true,
    state: "running",
  });
  await store.journal.commit({
    ws_id: "c",
    at: AT,
    entries: [],
    changes: [{ kind: "message_accepted", message: queued("c", "m") }],
  });
  expect((await store.workstreams.unfinished()).map((row) => row.ws_id)).toEqual(["b", "c"]);
  expect(await store.workstreams.count()).toEqual({ idle: 3, thinking: 0, running: 1, attention: 0, error: 0 });
});

test("guests are those who were invited", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  await store.workstreams.invite("a", "bert");
  await store.workstreams.invite("a", "bert");
  expect(await store.workstreams.isInvited("a", "bert")).toBe(true);
  expect(await store.workstreams.isInvited("a", "cora")).toBe(false);
});

// REQ-STORE-015
test("a removed workstream takes its sub-agents, entries, rows and search hits along; its id is free again", async () => {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  await store.workstreams.create(workstream("child", { kind: "task", parent_ws_id: "a", parent_call_id: "c" }));
  await store.workstreams.create(workstream("other"));
  const entries = Array.from({ length: 450 }, (_, index) => userTurn("a", index + 1, `pineapple ${index}`));
  await store.journal.commit({
    ws_id: "a",
    at: AT,
    entries,
    changes: [{ kind: "message_accepted", message: queued("a", "m") }],
  });
  await store.journal.commit({ ws_id: "child", at: AT, entries: [userTurn("child", 1, "pineapple")] });
  await store.journal.commit({ ws_id: "other", at: AT, entries: [userTurn("other", 1, "pineapple")] });
  expect((await store.workstreams.children("a")).map((row) => row.ws_id)).toEqual(["child"]);
  const find = () => store.search.conversations({ user_id: "anna", except_ws_id: null, query: "pineapple", limit: 1 });
  expect((await find()).total).toBe(452);
  await store.workstreams.remove("a");
  expect(await store.workstreams.get("a")).toBeNull();
  expect(await store.workstreams.get("child")).toBeNull();
  expect(await store.journal.read("a", 0)).toEqual([]);
  expect(await store.messages.get("m")).toBeNull();
  expect(await find()).toMatchObject({ total: 1, hits: [{ ws_id: "other" }] });
  expect(await store.workstreams.create(workstream("a"))).toBe(true);
  await store.journal.commit({ ws_id: "a", at: AT, entries: [userTurn("a", 1, "pineapple again")] });
  expect((await find()).total).toBe(2);
});

test("pruning takes what is old and at rest, however much, and nothing else (STOR-13, STOR-14)", async () => {
  const store = await temporaryStore();
  const now = Date.parse("2026-06-01T00:00:00.000Z");
  const old = { created: "2026-01-01T00:00:00.000Z", updated: "2026-01-01T00:00:00.000Z" };
  const kept = {
    recent: { ...old, updated: "2026-05-30T00:00:00.000Z" },
    fresh: { created: "2026-05-31T23:59:00.000Z", updated: "2026-01-01T00:00:00.000Z" },
    named: { ...old, alias: "home" },
    working: { ...old, state: "running" as const },
    open: { ...old, turn_open: true },
    waiting: old,
    asking: old,
  };
  for (const [ws_id, set] of Object.entries(kept)) await store.workstreams.create(workstream(ws_id, set));
  await store.journal.commit({
    ws_id: "waiting",
    at: old.updated,
    entries: [],
    changes: [{ kind: "message_accepted", message: queued("waiting", "m") }],
  });
  await store.journal.commit({
    ws_id: "asking",
    at: old.updated,
    entries: [],
    changes: [
      {
        kind: "approval_opened",
        approval: {
          cycle_id: "cycle",
          ws_id: "asking",
          seq: 1,
          items: [],
          decisions: {},
          state: "pending",
          approved: null,
          decided_by: null,
          reason: null,
          decided: null,
          created: AT,
          expires: null,
        },
      },
    ],
  });
  const many = Array.from({ length: 5000 }, (_, index) => store.workstreams.create(workstream(`old${index}`, old)));
  await Promise.all(many);
  await store.workstreams.create(workstream("closed", { ...old, closed: old.updated }));
  await store.workstreams.create(workstream("part", { ...old, kind: "task", parent_ws_id: "closed" }));
  expect(await store.prune({ retention_days: 90, now })).toEqual({ removed: 5001 });
  const left = await store.workstreams.list({ limit: 100, include_closed: true });
  expect(left.map((row) => row.ws_id).toSorted()).toEqual(Object.keys(kept).toSorted());
  await expect(store.prune({ retention_days: 0, now })).rejects.toThrow("one day or more");
});
