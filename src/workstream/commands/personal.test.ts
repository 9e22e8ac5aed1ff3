import { expect, onTestFinished, test } from "vitest";
import { startEngine } from "../../../test/support/engine_rig.ts";
import type { Frame } from "../../contracts/engine.ts";

const ADA = { user_id: "u1", name: "Ada" };
const BEN = { user_id: "u2", name: "Ben" };

/** Ada's conversation, which Ben reads as well, a gateway too, and Ada in two windows. */
async function sharedConversation() {
  const rig = await startEngine();
  onTestFinished(() => rig.close());
  const created = await rig.engine.create({ user_id: ADA.user_id });
  if (!created.ok) throw new Error(created.error);
  const { ws_id } = created.workstream;
  const heard: Record<string, string[]> = { ada: [], again: [], ben: [], unnamed: [], gateway: [] };
  const into =
    (name: string) =>
    ({ event }: Frame): void => {
      if (event.type === "info") heard[name]?.push(event.message);
    };
  rig.bus.subscribe(ws_id, into("ada"), ADA.user_id);
  rig.bus.subscribe(ws_id, into("again"), ADA.user_id);
  rig.bus.subscribe(ws_id, into("ben"), BEN.user_id);
  rig.bus.subscribe(ws_id, into("unnamed"));
  rig.bus.subscribeAll(into("gateway"));
  const command = async (line: string, by = ADA): Promise<string> => {
    const answer = await rig.engine.command(ws_id, line, by);
    if (!answer.ok) throw new Error(answer.error);
    return answer.output;
  };
  return { ...rig, ws_id, heard, command };
}

test.each(["/grants", "/grants revoke 1", "/memory", "/memory rent", "/memory forget rent", "/status"])(
  "what %s answers is told to whoever asked, where they read, and kept nowhere",
  async (line) => {
    const { store, ws_id, heard, command } = await sharedConversation();
    const rent = { scope: "user", owner: ADA.user_id, key: "rent", value: "900 a month" } as const;
    await store.memories.save(rent, "2026-01-01T00:00:00.000Z");
    const output = await command(line);
    expect(heard).toEqual({ ada: [output], again: [output], ben: [], unnamed: [], gateway: [] });
    expect(await store.journal.read(ws_id, 0)).toEqual([]);
  },
);

test("what a command says of the conversation itself is told to everyone in it and kept", async () => {
  const { store, ws_id, heard, command } = await sharedConversation();
  const output = await command("/model");
  expect(new Set(Object.values(heard).flat())).toEqual(new Set([output]));
  expect(heard["ben"]).toEqual([output]);
  expect(await store.journal.read(ws_id, 0)).toHaveLength(1);
});

test("how much the owner used today is the owner's alone to know", async () => {
  const { command } = await sharedConversation();
  expect(await command("/status")).toContain("Used today");
  expect(await command("/status", BEN)).not.toContain("Used today");
});
