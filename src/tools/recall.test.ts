import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryStore, type TemporaryStore } from "../../test/support/temporary_store.ts";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { JsonObject } from "../protocol/json.ts";
import { recallTool } from "./recall.ts";
import { rememberTool } from "./remember.ts";

const tool = recallTool();
const ANNA = "a".repeat(32);
const BEN = "b".repeat(32);
let bench: ToolBench;
let kept: TemporaryStore;
beforeEach(async () => {
  kept = await temporaryStore();
  bench = toolBench({ user_id: ANNA, memories: kept.store.memories, search: kept.store.search });
});
afterEach(async () => {
  bench.remove();
  await kept.remove();
});

async function recall(args: JsonObject): Promise<string> {
  const result = await bench.call(tool, args);
  return result.prepared ? result.output : result.error;
}

async function remember(key: string, value: string): Promise<void> {
  await bench.call(rememberTool(), { key, value });
}

test("without a query all memories are listed, the last used first", async () => {
  expect(await recall({})).toBe("No memories are stored yet.");
  await remember("old", "1");
  bench.with({ clock: { ...bench.context.clock, now: () => Date.now() + 5000 } });
  await remember("new", "two\nlines");
  const [title, ...lines] = (await recall({ query: "  " })).split("\n");
  expect(title).toBe("Memories, most recently used first (2 of 2):");
  expect(lines.join("\n")).toMatch(
    /^- new \(user, \d{4}-\d\d-\d\d\): two\n {4}lines\n- old \(user, \d{4}-\d\d-\d\d\): 1$/,
  );
});

test("a query finds memories and past conversations, with dates and ids, but not this one (REQ-TOOL-027)", async () => {
  await remember("deploy_day", "We deploy the kestrel on Tuesdays");
  await kept.converse("1".repeat(32), ANNA, ["hello", "how does the kestrel hover?"]);
  await kept.converse(bench.context.ws_id, ANNA, ["kestrel here"]);
  await kept.converse("2".repeat(32), BEN, ["my secret kestrel"]);
  await expect.poll(() => recall({ query: "kestrel" }), { timeout: 20_000 }).toContain("Past conversations (1 of 1");
  const output = await recall({ query: "kestrel" });
  expect(output).toContain("- deploy_day (user, ");
  expect(output).toContain(
    `- 2026-01-02 03:04 (ws ${"1".repeat(32)}, talk ${"1".repeat(32)}) user: how does the **kestrel** hover?`,
  );
  expect(output).not.toContain("secret");
  expect(output).not.toContain("kestrel here");
});

test("wildcards are letters (STOR-03)", async () => {
  await remember("a", "50%_off today");
  await remember("b", "50 percent off today");
  const output = await recall({ query: "50%_off" });
  expect(output).toContain("- a (");
  expect(output).not.toContain("- b (");
});

test.each(['"', "AND OR NOT", "a*", "(", "key:value", "-x", "NEAR(a b)", "\0", "😀"])(
  "%j is a valid query",
  async (query) => {
    await remember("k", "v");
    expect(await recall({ query })).not.toContain("failed");
  },
);

test.each([
  [-1, 1],
  [0, 1],
  ["x", 20],
  [1e9, 50],
  [2.5, 2],
  ["3", 3],
  [undefined, 20],
])("limit %j gives %i (STOR-04)", async (limit, count) => {
  for (let number = 0; number < 55; number += 1) await remember(`key ${number}`, "v");
  const output = await recall(limit === undefined ? {} : { limit });
  expect(output).toContain(`(${count} of 55)`);
  expect(output.split("\n")).toHaveLength(count + 1);
});

test("long values share the room there is; one alone is given whole", async () => {
  await remember("long", "x".repeat(60_000));
  expect(await recall({})).toContain("x".repeat(60_000));
  bench.with({ output_limit: 2000 });
  const output = await recall({});
  expect(output.length).toBeLessThan(2000);
  expect(output).toContain("(cut: 60,000 characters in all)");
});

test("nothing found is said", async () => {
  expect(await recall({ query: "zebra" })).toBe('Nothing was found for "zebra". Try other or fewer words.');
});
