import { expect, test } from "vitest";
import type { SqliteStore } from "./open.ts";
import { AT, entry, temporaryStore, userTurn, workstream } from "../../test/support/store_rig.ts";

async function storeSaying(texts: readonly string[], user_id: string | null = "anna"): Promise<SqliteStore> {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a", { user_id }));
  await store.journal.commit({
    ws_id: "a",
    at: AT,
    entries: texts.map((text, index) => userTurn("a", index + 1, text)),
  });
  return store;
}

function search(
  store: SqliteStore,
  query: string,
  set: { user_id?: string; except_ws_id?: string; limit?: number } = {},
) {
  return store.search.conversations({ user_id: "anna", except_ws_id: null, limit: 10, query, ...set });
}

test("what people, the model and tools said is found with a marked cut, its date and its workstream", async () => {
  const store = await storeSaying(["Where does the turbine stand?"]);
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  await store.journal.commit({
    ws_id: "a",
    at: AT,
    entries: [
      entry("a", 2, {
        type: "assistant",
        content: "The turbines stand\nin the north.",
        reasoning: "turbine thoughts",
        tool_calls: [],
        usage,
        stop_reason: "stop",
        model_call_id: "1.1",
        model_alias: "default",
      }),
      entry("a", 3, { type: "tool_result", call_id: "c", name: "bash", output: "turbine.txt", is_error: false }),
      entry("a", 4, { type: "info", message: "turbine" }),
    ],
  });
  const { hits, total } = await search(store, "turbine");
  expect(total).toBe(3);
  const name = "name of a";
  expect(hits.toSorted((left, right) => left.seq - right.seq)).toEqual([
    { ws_id: "a", name, seq: 1, at: AT, role: "user", snippet: "Where does the **turbine** stand?" },
    { ws_id: "a", name, seq: 2, at: AT, role: "assistant", snippet: "The **turbines** stand in the north." },
    { ws_id: "a", name, seq: 3, at: AT, role: "tool", snippet: "**turbine**.txt" },
  ]);
});

test("other people's and the present conversation are never found (REQ-STORE-013)", async () => {
  const store = await storeSaying(["my pineapple"]);
  await store.workstreams.create(workstream("b", { user_id: "bert" }));
  await store.workstreams.create(workstream("c"));
  await store.workstreams.create(workstream("nobody", { user_id: null }));
  for (const ws_id of ["b", "c", "nobody"]) {
    await store.journal.commit({ ws_id, at: AT, entries: [userTurn(ws_id, 1, "pineapple anna a")] });
  }
  const found = async (set: Parameters<typeof search>[2], query = "pineapple") => {
    const { hits, total } = await search(store, query, set);
    expect(total).toBe(hits.length);
    return hits.map((hit) => hit.ws_id).toSorted();
  };
  expect(await found({})).toEqual(["a", "c"]);
  expect(await found({ except_ws_id: "a" })).toEqual(["c"]);
  expect(await found({ user_id: "bert" })).toEqual(["b"]);
  expect(await found({ user_id: "constructor" })).toEqual([]);
  expect(await found({}, '" OR pineapple OR owner : "anna')).toEqual(["a", "c"]);
});

test("every word counts before any word, and the rarer match comes first", async () => {
  const store = await storeSaying(["red car", "red boat", "a boat and a boat and a red boat", "blue"]);
  expect((await search(store, "red boat")).total).toBe(2);
  expect((await search(store, "blue moon")).hits.map((hit) => hit.seq)).toEqual([4]);
  expect(await search(store, "red", { limit: 2 })).toMatchObject({ total: 3, hits: [{}, {}] });
});

test("a long text is cut around the match, scripts without spaces are searched by letters", async () => {
  const store = await storeSaying([`${"word ".repeat(500)}needle ${"word ".repeat(500)}`, "数据库密码是秘密"]);
  const { snippet = "" } = (await search(store, "needle")).hits[0] ?? {};
  expect(snippet).toContain("**needle**");
  expect(snippet.length).toBeLessThan(300);
  expect((await search(store, "密码")).hits[0]?.snippet).toBe("数据库**密码**是秘密");
  expect((await search(store, "码密")).total).toBe(0);
});

test("any text is a valid query (STOR-04)", async () => {
  const store = await storeSaying(["alpha", "alpha constructor"]);
  const odd = [
    "",
    " ",
    '"',
    "'",
    "*",
    "a*",
    "AND",
    "alpha AND",
    "NOT alpha OR",
    "NEAR(",
    "owner:",
    "a\0b",
    "\udc00",
    "__proto__",
    "%",
    "(((",
    "a".repeat(100_000),
    "w ".repeat(50_000),
  ];
  for (const query of odd) expect((await search(store, query)).hits.length).toBeLessThanOrEqual(2);
  expect((await search(store, "constructor")).total).toBe(1);
  expect((await search(store, "alph*")).total).toBe(0);
  for (const limit of [-1, 0, Number.NaN]) expect((await search(store, "alpha", { limit })).hits).toHaveLength(1);
});

test("odd and huge entries do not keep others from being found (STOR-15, PROV-29)", async () => {
  const store = await storeSaying([
    "x\0y \ud83d needle",
    "y".repeat(2_000_000),
    "long ".repeat(100_000),
    "the other needle",
  ]);
  expect((await search(store, "needle")).hits.map((hit) => hit.seq).toSorted((left, right) => left - right)).toEqual([
    1, 4,
  ]);
  expect((await search(store, "xy")).total).toBe(1);
});

test("one person's great many entries are searched beside the event loop, and nobody else's with them", async () => {
  const store = await temporaryStore();
  for (const [ws_id, user_id] of [
    ["a", "anna"],
    ["present", "anna"],
    ["b", "bert"],
  ] as const) {
    await store.workstreams.create(workstream(ws_id, { user_id }));
  }
  for (let portion = 0; portion < 21; portion += 1) {
    const entries = Array.from({ length: 500 }, (_, index) =>
      userTurn("a", portion * 500 + index + 1, `common ${index}`),
    );
    await store.journal.commit({ ws_id: "a", at: AT, entries });
  }
  for (const ws_id of ["present", "b"]) {
    await store.journal.commit({ ws_id, at: AT, entries: [userTurn(ws_id, 1, "common rarity 7")] });
  }
  const find = (query: string, user_id = "anna") =>
    search(store, query, { user_id, except_ws_id: "present", limit: 5 });
  expect(await find("rarity")).toEqual({ hits: [], total: 0 });
  expect(await find("common 7")).toMatchObject({ total: 21, hits: Array.from({ length: 5 }, () => ({ ws_id: "a" })) });
  expect(await find("common", "bert")).toMatchObject({ total: 1, hits: [{ ws_id: "b" }] });
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  expect((await find("common")).total).toBe(10_500);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(10);
});
