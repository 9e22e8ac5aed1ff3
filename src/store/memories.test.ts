import { expect, test } from "vitest";
import { AT, temporaryStore } from "../../test/support/store_rig.ts";
import type { SqliteStore } from "./open.ts";

const LATER = "2026-02-01T00:00:00.000Z";
const ANNA = { user_id: "anna", workspace: "/work" };

async function storeWith(values: Record<string, string>, now?: () => number): Promise<SqliteStore> {
  const store = await temporaryStore(undefined, now);
  for (const [key, value] of Object.entries(values)) {
    await store.memories.save({ scope: "user", owner: "anna", key, value }, AT);
  }
  return store;
}

async function keys(
  store: SqliteStore,
  query: string,
  limit = 10,
  reach: { user_id: string | null; workspace: string } = ANNA,
) {
  return (await store.memories.search(reach, query, limit)).map((memory) => memory.key);
}

test("a memory is saved, replaced and answered with what stood there", async () => {
  const store = await storeWith({});
  const first = await store.memories.save({ scope: "user", owner: "anna", key: "k", value: "old words" }, AT);
  const second = await store.memories.save({ scope: "user", owner: "anna", key: "k", value: "new words" }, LATER);
  expect(first.previous).toBeNull();
  expect(second.previous).toBe("old words");
  expect(second.memory).toEqual({ ...first.memory, value: "new words", updated: LATER, used: LATER });
  expect(await store.memories.count(ANNA)).toBe(1);
  expect(await keys(store, "old")).toEqual([]);
  expect(await keys(store, "new")).toEqual(["k"]);
});

test("two saves of one key at once make one row (STOR-07)", async () => {
  const store = await storeWith({});
  await Promise.all(
    ["1", "2"].map((value) => store.memories.save({ scope: "user", owner: "anna", key: "a", value }, AT)),
  );
  expect(await store.memories.list(ANNA, 10)).toMatchObject([{ key: "a", value: "2" }]);
});

test("memories of others and of other workspaces are out of reach", async () => {
  const store = await storeWith({ mine: "secret word" });
  await store.memories.save({ scope: "user", owner: "bert", key: "his", value: "secret word" }, AT);
  await store.memories.save({ scope: "workspace", owner: "/work", key: "here", value: "secret word" }, AT);
  await store.memories.save({ scope: "workspace", owner: "/elsewhere", key: "there", value: "secret word" }, AT);
  await store.memories.save({ scope: "global", owner: "", key: "everywhere", value: "secret word" }, AT);
  const reached = ["everywhere", "here", "mine"];
  expect((await keys(store, "secret")).toSorted()).toEqual(reached);
  expect((await keys(store, "ecre")).toSorted()).toEqual(reached);
  expect((await store.memories.list(ANNA, 10)).map((memory) => memory.key).toSorted()).toEqual(reached);
  expect(await store.memories.count(ANNA)).toBe(3);
  const nobody = { user_id: null, workspace: "/none" };
  expect(await keys(store, "secret", 10, nobody)).toEqual(["everywhere"]);
  expect(await store.memories.count(nobody)).toBe(1);
  const his = (await store.memories.list({ user_id: "bert", workspace: "/none" }, 9)).find(
    (memory) => memory.key === "his",
  );
  expect(await store.memories.removeById(his?.memory_id ?? "", ANNA)).toBe(false);
  expect(await store.memories.removeById(his?.memory_id ?? "", { user_id: "bert", workspace: "/" })).toBe(true);
});

test("what was removed is found no more", async () => {
  const store = await storeWith({ a: "apple", b: "apple" });
  expect(await store.memories.remove("user", "anna", "a")).toBe(true);
  expect(await store.memories.remove("user", "anna", "a")).toBe(false);
  expect(await keys(store, "apple")).toEqual(["b"]);
  expect(await keys(store, "pple")).toEqual(["b"]);
});

test("wildcards stand for themselves (STOR-03)", async () => {
  const store = await storeWith({
    coupon: "use 50%_off today",
    lookalike: "use 50xx_off",
    other: "50 percent off",
    spaced: "50 off",
    path: "C:\\temp\\x*",
    inside: "abc50%_offer",
  });
  expect((await keys(store, "50%_off")).toSorted()).toEqual(["coupon", "inside"]);
  expect(await keys(store, "%_")).toEqual(expect.arrayContaining(["coupon", "inside"]));
  expect(await keys(store, "%_")).toHaveLength(2);
  expect(await keys(store, "p\\x*")).toEqual(["path"]);
  expect(await keys(store, "us*")).toEqual([]);
});

test("letters inside a word and words of a key are found", async () => {
  const store = await storeWith({ deploy_target: "the reconfigured cluster", editor: "vim" });
  expect(await keys(store, "onfigur")).toEqual(["deploy_target"]);
  expect(await keys(store, "deploy_target")).toEqual(["deploy_target"]);
  expect(await keys(store, "loy_tar")).toEqual(["deploy_target"]);
  expect(await keys(store, "What is the deploy target?")).toEqual(["deploy_target"]);
});

test("the best comes first: every word before any word, and the key weighs more", async () => {
  const store = await storeWith({ one: "red car", two: "red boat and a red flag", boat: "yellow", three: "green" });
  expect((await keys(store, "red boat"))[0]).toBe("two");
  expect(await keys(store, "boat")).toEqual(["boat", "two"]);
  expect(await keys(store, "yellow submarine")).toEqual(["boat"]);
});

// REQ-STORE-014
test("scripts without spaces are searched by their letters, and accents are forgiven (STOR-05)", async () => {
  const store = await storeWith({
    db: "数据库密码是秘密",
    tokyo: "東京タワーへ行く",
    thai: "สวัสดีชาวโลก",
    cafe: "Cafe\u0301 Zu\u0308rich",
  });
  expect(await keys(store, "密码")).toEqual(["db"]);
  expect(await keys(store, "密")).toEqual(["db"]);
  expect(await keys(store, "据库密")).toEqual(["db"]);
  expect(await keys(store, "码密")).toEqual([]);
  expect(await keys(store, "タワー")).toEqual(["tokyo"]);
  expect(await keys(store, "ชาว")).toEqual(["thai"]);
  expect(await keys(store, "caf\u00e9 zurich")).toEqual(["cafe"]);
});

test("any text is a valid query, and any limit is clamped (STOR-04, STOR-06)", async () => {
  const store = await storeWith({ a: "alpha", b: "alpha" });
  const odd = [
    "",
    " ",
    '"',
    '""',
    "'",
    "(",
    ")",
    "*",
    "a AND",
    "NOT",
    "OR OR",
    "NEAR(a b)",
    "owner:x",
    "{key} : a",
    "^a",
    "-a",
    "a\0b",
    "\ud83d",
    "constructor",
    "__proto__",
    "\u200b",
    "%%%",
    "\\",
    "a".repeat(100_000),
    "w ".repeat(50_000),
    '" OR owner : "x',
  ];
  for (const query of odd) expect(Array.isArray(await keys(store, query))).toBe(true);
  for (const limit of [-1, 0, Number.NaN, 0.4]) expect(await keys(store, "alpha", limit)).toHaveLength(1);
  expect(await keys(store, "alpha", 1e9)).toHaveLength(2);
  expect(await store.memories.list(ANNA, -1)).toHaveLength(1);
});

test("odd values are stored and found (STOR-06)", async () => {
  const store = await storeWith({ nul: "be\0fore after", half: "x \ud83d y", long: `${"lorem ".repeat(180_000)}end` });
  expect((await store.memories.search(ANNA, "before", 1))[0]?.value).toBe("before after");
  expect((await store.memories.list(ANNA, 10)).find((memory) => memory.key === "half")?.value).toBe("x \ufffd y");
  expect((await store.memories.search(ANNA, "lorem", 1))[0]?.value).toHaveLength(1_080_003);
});

test("what was found or saved last is listed first", async () => {
  const store = await storeWith({ a: "apple", b: "banana", c: "cherry" }, () => Date.parse(LATER));
  expect((await store.memories.list(ANNA, 10)).map((memory) => memory.key)).toEqual(["a", "b", "c"]);
  await keys(store, "banana");
  await store.check();
  expect((await store.memories.list(ANNA, 10)).map((memory) => memory.key)).toEqual(["b", "a", "c"]);
});
