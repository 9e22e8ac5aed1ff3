import { expect, test } from "vitest";
import { temporaryStore, workstream } from "../../test/support/store_rig.ts";
import { emptyConversation } from "../agent/conversation.ts";
import { systemClock } from "../lib/clock.ts";
import { JournalWriter } from "./journal_writer.ts";

test("a step that cannot be made rejects who asked for it, and the next one is written", async () => {
  const store = await temporaryStore();
  const row = workstream("a");
  await store.workstreams.create(row);
  let broken = true;
  const clock = {
    ...systemClock,
    now(): number {
      if (broken) throw new Error("the clock is broken");
      return Date.now();
    },
  };
  const writer = new JournalWriter(store, clock, row, emptyConversation("a"), () => {});
  const said = (message: string): Promise<void> => writer.append({ entries: [{ event: { type: "info", message } }] });
  await expect(Promise.all([said("one"), said("two")])).rejects.toThrow("the clock is broken");
  broken = false;
  await said("three");
  expect((await store.journal.read("a", 0)).map(({ seq, event }) => [seq, event])).toMatchObject([
    [1, { type: "info", message: "three" }],
  ]);
});
