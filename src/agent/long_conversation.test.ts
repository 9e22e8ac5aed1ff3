import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { engineModel, engineModels, startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo } from "../../test/support/little_tools.ts";
import { startModelServer, type RecordedRequest } from "../../test/support/model_server/model_server.ts";
import { reply, type Reply } from "../../test/support/model_server/reply.ts";
import { calls, says } from "../../test/support/scripted_provider.ts";
import { createTestClock } from "../../test/support/test_clock.ts";
import { loadDefinitions } from "../catalog/definitions.ts";
import type { Tool } from "../contracts/tool.ts";
import { createProviders } from "../providers/index.ts";
import { editFileTool } from "../tools/edit_file.ts";
import { readFileTool } from "../tools/read_file.ts";
import { emptyConversation } from "./conversation.ts";
import { applyEntry } from "./projection.ts";
import { atRest, conversationRequests, player, SUMMARY, texts, turns, words } from "./testing/long_conversation.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(options: EngineRigOptions = {}) {
  const rig = await startEngine({ clock: createTestClock(), context_window: 8000, tools: [echo], ...options });
  closers.push(() => rig.close());
  return rig;
}

function builtIn(tool: Tool) {
  const definition = loadDefinitions().find(({ name }) => name === tool.name);
  if (definition === undefined) throw new Error(`There is no definition of ${tool.name}.`);
  return { definition, tool };
}

test("a restart finds the same conversation, from the last compaction's turn on", async () => {
  const loop = Array.from({ length: 12 }, (_, index) =>
    calls({ id: `c${index}`, name: "echo", arguments: { text: `${index} ${words(900)}` } }),
  );
  const rig = await start({ provider: player(SUMMARY, says("before"), ...loop, says("All done."), says("after")) });
  const ws = await rig.open();
  await turns(ws, "earlier", "Run it twelve times.", "and now");
  const all = await rig.store.journal.read(ws.ws_id, 0);
  const compaction = await rig.store.journal.lastCompaction(ws.ws_id);
  const after = compaction?.private?.replay_after_seq ?? 0;
  expect(after).toBeGreaterThan(0);
  const whole = projected(all);
  const reloaded = projected(all.filter(({ seq }) => seq > after));
  expect(reloaded.messages).toEqual(whole.messages);
  expect(reloaded.message_seqs).toEqual(whole.message_seqs);
  expect(reloaded.turn_starts).toEqual(whole.turn_starts);
  expect(whole.message_seqs).toEqual(whole.message_seqs.toSorted((one, other) => one - other));
});

function projected(entries: Parameters<typeof applyEntry>[1][]) {
  const conversation = emptyConversation("w");
  for (const entry of entries) applyEntry(conversation, entry);
  return conversation;
}

test("a single result that cannot fit is cut, not fatal, and the model is told (CTX-09)", async () => {
  const provider = player(
    SUMMARY,
    calls({ name: "echo", arguments: { text: words(1) } }, { id: "b", name: "echo", arguments: { text: "small" } }),
    says("I saw its ends."),
  );
  const huge = { ...echo.tool, execute: (plan: unknown) => Promise.resolve(hugeOrSmall(plan)) };
  const rig = await start({ provider, tools: [{ ...echo, tool: huge }] });
  const ws = await rig.open();
  await turns(ws, "read it");
  const results = ws.kept().flatMap((event) => (event.type === "tool_result" ? [event.output] : []));
  expect(results[0]).toMatch(/^begin [\s\S]*characters left out here[\s\S]* end$/);
  expect(results[1]).toBe("small");
  expect(ws.one("turn_ended").outcome).toBe("done");
});

function hugeOrSmall(plan: unknown) {
  const small = JSON.stringify(plan).includes("small");
  return { output: small ? "small" : `begin ${words(40_000)} end`, is_error: false, effect: "none" as const };
}

test("a request longer than the window is shown by its beginning and end, and stays whole in the journal (CTX-07)", async () => {
  const rig = await start({ provider: player(SUMMARY, says("I saw it.")) });
  const ws = await rig.open();
  const long = `first words ${words(20_000)} last words`;
  await turns(ws, long);
  const shown = texts(conversationRequests(rig)[0]?.messages ?? []).at(-1) ?? "";
  expect(shown).toMatch(/^first words [\s\S]*left out here[\s\S]* last words$/);
  expect(shown.length).toBeLessThan(long.length / 2);
  expect(ws.one("user_turn").content).toBe(long);
});

test("a picture counts flat, whatever its bytes, and a compaction keeps it when it is the last request (CTX-07, CTX-10)", async () => {
  const picture = { attachment_id: "att_1", media_type: "image/png", filename: "big.png", size: 4_000_000 };
  const loop = Array.from({ length: 8 }, (_, index) =>
    calls({ id: `c${index}`, name: "echo", arguments: { text: `${index} ${words(900)}` } }),
  );
  const rig = await start({ provider: player(SUMMARY, ...loop, says("Seen.")), context_window: 12_000 });
  const ws = await rig.open();
  const sent = { content: "", client_send_id: null, attachments: [picture], sender: null, source: "api" };
  await rig.engine.send(ws.ws_id, sent);
  await ws.turnEnded();
  const requests = conversationRequests(rig);
  const types = ws.types();
  expect(types.indexOf("compaction")).toBeGreaterThan(types.indexOf("tool_result"));
  for (const { messages } of requests) {
    expect(
      messages
        .flatMap((message) => (message.role === "user" ? message.content : []))
        .some(({ type }) => type === "image"),
    ).toBe(true);
  }
  expect(ws.one("turn_ended").outcome).toBe("done");
});

test("after a compaction and after a restart a file is read again before it is edited (CTX-06)", async () => {
  const read = calls({ id: "r", name: "read_file", arguments: { path: "a.txt" } });
  const edit = (id: string) =>
    calls({ id, name: "edit_file", arguments: { path: "a.txt", old_string: "old", new_string: "new" } });
  const provider = player(
    SUMMARY,
    says("hi"),
    read,
    says("Read."),
    edit("e1"),
    says("Refused."),
    read,
    edit("e2"),
    says("Edited."),
  );
  const tools = [builtIn(readFileTool()), builtIn(editFileTool())];
  const rig = await start({ provider, tools, context_window: 30_000 });
  const ws = await rig.open({ auto_approve: true });
  const folder = join(rig.folder, "workspaces", ws.ws_id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "a.txt"), "old\n");
  await turns(ws, words(2000), "read it");
  await atRest(async () => {
    await rig.engine.command(ws.ws_id, "/compact", { user_id: "u", name: "Ada" });
    return { ok: ws.types().includes("compaction") };
  });
  await rig.crash();
  const again = await start({ provider, tools, context_window: 30_000, folder: rig.folder });
  const watched = again.watch(ws.ws_id);
  await turns(watched, "edit it");
  const results = () => watched.kept().flatMap((event) => (event.type === "tool_result" ? [event] : []));
  expect(results()).toMatchObject([{ is_error: true, output: expect.stringMatching(/read/i) }]);
  expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("old\n");
  await turns(watched, "try again");
  expect(results().slice(1)).toMatchObject([{ is_error: false }, { is_error: false }]);
  expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("new\n");
});

test("tokens that a provider read from its cache count too, and compaction comes in time (PROV-33)", async () => {
  const server = await startModelServer();
  closers.push(() => server.close());
  const model = engineModel(
    { provider: "anthropic", base_url: server.anthropic_base_url, api_key: "k" },
    { context_window: 10_000 },
  );
  const rig = await start({ models: engineModels(model), providers: createProviders().values() });
  server.conversation(
    ({ system_text }) => system_text.startsWith("You summarise"),
    () => reply.text("Short."),
  );
  server.script([
    reply.text("one"),
    reply.text(words(3000, "word"), {
      chunks: 1,
      usage: { input: 100, output: 3000, cache_read: 4000, cache_write: 1500 },
    }),
    reply.text("three"),
  ]);
  const ws = await rig.open();
  await turns(ws, words(4000), "second");
  const status = ws.kept().findLast((event) => event.type === "status");
  expect(status).toMatchObject({ prompt_tokens: 5600, total_tokens: 8600, pct: 86 });
  await turns(ws, "third");
  expect(ws.one("compaction").before_tokens).toBeGreaterThan(8000);
});

test(
  "200 turns of text and tools in a small window: no request is refused, and the last message is in each",
  { timeout: 120_000 },
  async () => {
    const WINDOW = 16_000;
    const server = await startModelServer();
    closers.push(() => server.close());
    const model = engineModel(
      { provider: "openai-compatible", base_url: server.base_url, api_key: "k" },
      { context_window: WINDOW },
    );
    const rig = await start({ models: engineModels(model), providers: createProviders().values() });
    let said = "";
    let steps = 0;
    let largest = 0;
    const lost: string[] = [];
    server.script((request: RecordedRequest): Reply => {
      const tokens = Math.ceil(request.raw_body.length / 4);
      largest = Math.max(largest, tokens);
      if (tokens > WINDOW) {
        return reply.status(400, { message: "This model's maximum context length is 16000 tokens." });
      }
      if (request.system_text.startsWith("You summarise")) return reply.text(`Summary. ${words(200)}`, { chunks: 1 });
      if (!request.raw_body.includes(`${said} `)) lost.push(said);
      steps += 1;
      const turn = Number(said.slice("request_".length));
      if (turn % 2 === 0 && steps % 4 !== 0) {
        const asked = Array.from({ length: 1 + (steps % 3) }, (_, index) => ({
          name: "echo",
          arguments: { text: `${turn}.${index} ${words((steps * 37) % 900, "Ergebnis")}` },
        }));
        return reply.toolCalls(asked, {
          usage: { input: tokens, output: Math.ceil(JSON.stringify(asked).length / 4) },
          chunks: 1,
        });
      }
      const answer = `Answer ${turn}: ${words((turn * 13) % 700, "wort")}`;
      return reply.text(answer, { usage: { input: tokens, output: Math.ceil(answer.length / 4) }, chunks: 1 });
    });
    const ws = await rig.open();
    for (let turn = 0; turn < 200; turn += 1) {
      said = `request_${turn}`;
      await turns(ws, `${said} ${words((turn * 29) % 500, "mot")}`);
    }
    expect(server.problems).toEqual([]);
    expect(lost).toEqual([]);
    expect(largest).toBeLessThanOrEqual(WINDOW);
    expect(ws.kept().filter((event) => event.type === "error")).toEqual([]);
    expect(ws.kept().filter((event) => event.type === "turn_ended" && event.outcome === "done")).toHaveLength(200);
    const all = await rig.store.journal.read(ws.ws_id, 0);
    const compaction = await rig.store.journal.lastCompaction(ws.ws_id);
    const after = compaction?.private?.replay_after_seq ?? 0;
    expect(projected(all.filter(({ seq }) => seq > after)).messages).toEqual(projected(all).messages);
  },
);
