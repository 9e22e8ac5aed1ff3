import { afterEach, expect, test } from "vitest";
import { engineModel, engineModels, startEngine } from "../../test/support/engine_rig.ts";
import { startModelServer } from "../../test/support/model_server/model_server.ts";
import { reply, type Reply } from "../../test/support/model_server/reply.ts";
import type { GlobalEvent } from "../protocol/event.ts";
import { createProviders } from "../providers/index.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A model that answers the conversation at once, and each request for a title with the next of these. */
async function start(...titles: Reply[]) {
  return startIn({}, ...titles);
}

/** The same on what a killed server left behind, where a folder is named. */
async function startIn(options: { folder?: string }, ...titles: Reply[]) {
  const server = await startModelServer({ title: null });
  closers.push(() => server.close());
  const asksForTitle = (system_text: string): boolean => system_text.startsWith("Give the conversation a title");
  server.conversation(
    ({ system_text }) => asksForTitle(system_text),
    () => titles.shift() ?? reply.text("Late title"),
  );
  server.script(() => reply.text("An answer."));
  const model = engineModel({ provider: "openai-compatible", base_url: server.base_url, api_key: "k" });
  const rig = await startEngine({ models: engineModels(model), providers: createProviders().values(), ...options });
  closers.push(() => rig.close());
  const renames: { ws_id: string; name: string }[] = [];
  const looks = new Set<() => void>();
  rig.bus.subscribeGlobal(({ event }: { event: GlobalEvent }) => {
    if (event.type === "ws_rename") renames.push({ ws_id: event.ws_id, name: event.name });
    for (const look of looks) look();
  });
  const renamed = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => (renames.length >= count ? resolve() : undefined);
      looks.add(look);
      look();
    });
  const titleRequest = async () => {
    for (;;) {
      const request = await server.nextRequest();
      if (asksForTitle(request.system_text)) return request;
    }
  };
  return { ...rig, server, renames, renamed, titleRequest };
}

test("a title is given after the first exchange, and its use is counted", async () => {
  const { open, renamed, renames, store } = await start(
    reply.text('"Tabs or spaces."', { usage: { input: 40, output: 7 } }),
  );
  const ws = await open();
  await ws.say("hi");
  await renamed(1);
  expect(renames).toEqual([{ ws_id: ws.ws_id, name: "Tabs or spaces" }]);
  const since = "2000-01-01T00:00:00.000Z";
  expect((await store.usage.total({ ws_id: ws.ws_id, since })).completion_tokens).toBeGreaterThanOrEqual(7);
});

test("a title that takes its time delays no turn: the next one ends it, and it is asked for again", async () => {
  const { open, renamed, renames, titleRequest } = await start(reply.stall());
  const ws = await open();
  await ws.say("hi");
  const request = await titleRequest();
  await ws.say("more");
  expect(await request.ended).toBe("client_hung_up");
  await ws.turnEnded(2);
  await renamed(1);
  expect(renames).toEqual([{ ws_id: ws.ws_id, name: "Late title" }]);
});

test("a title that a crash has cut off is asked for after the next turn", async () => {
  const { open, titleRequest, crash, folder, services } = await start(reply.stall());
  const ws = await open();
  await ws.say("hi");
  await titleRequest();
  await crash();
  const after = await startEngine({ folder, models: services.models, providers: services.providers.values() });
  closers.push(() => after.close());
  const again = after.watch(ws.ws_id);
  await again.say("more");
  await again.turnEnded();
  await expect.poll(async () => (await after.store.workstreams.get(ws.ws_id))?.title).toBe("Late title");
});

test("reasoning is no title: none is given, and it is asked for after the next turn (PROV-34)", async () => {
  const thought = "The user greets. A title could be Greeting.";
  const { open, renamed, renames, titleRequest } = await start(reply.empty({ reasoning: thought, finish: "stop" }));
  const ws = await open();
  await ws.say("hi");
  await (
    await titleRequest()
  ).ended;
  await ws.turnEnded();
  await ws.say("more");
  await ws.turnEnded(2);
  await renamed(1);
  expect(renames).toEqual([{ ws_id: ws.ws_id, name: "Late title" }]);
});

test("a late title never names another workstream, nor one that a person named meanwhile (PROV-34)", async () => {
  const slow = reply.gate(reply.text("From the first"));
  const { engine, open, renamed, renames, titleRequest, store } = await start(slow.reply, reply.text("Of the second"));
  const first = await open();
  await first.say("hi");
  const request = await titleRequest();
  const second = await open();
  await second.say("hello");
  await renamed(1);
  await engine.command(first.ws_id, "/title Mine", { user_id: "u", name: "Ada" });
  slow.open();
  await request.ended;
  await first.say("go on");
  await first.turnEnded(2);
  expect(renames).toEqual([
    { ws_id: second.ws_id, name: "Of the second" },
    { ws_id: first.ws_id, name: "Mine" },
  ]);
  expect((await store.workstreams.get(first.ws_id))?.title).toBe("Mine");
  expect((await store.workstreams.get(second.ws_id))?.title).toBe("Of the second");
});

test("a title that a crash kept from coming is asked for by the next start", async () => {
  const first = await start(reply.stall());
  const ws = await first.open();
  await ws.say("hi");
  await first.titleRequest();
  await first.crash();
  const second = await startIn({ folder: first.folder });
  await second.engine.recover();
  await second.renamed(1);
  expect(second.renames).toEqual([{ ws_id: ws.ws_id, name: "Late title" }]);
});
