import { afterEach, expect, test } from "vitest";
import { startEngine, type EngineRigOptions } from "../../test/support/engine_rig.ts";
import { echo } from "../../test/support/little_tools.ts";
import { calls, says, ScriptedProvider, type Script } from "../../test/support/scripted_provider.ts";
import { createTestClock } from "../../test/support/test_clock.ts";
import type { ProviderEvent } from "../contracts/provider.ts";
import type { Message } from "../protocol/message.ts";
import {
  atRest,
  conversationRequests,
  counts,
  FAILED,
  isSummary,
  OVERFLOW,
  player,
  SUMMARY,
  texts,
  turns,
  words,
} from "./testing/long_conversation.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(options: EngineRigOptions = {}) {
  const rig = await startEngine({ clock: createTestClock(), context_window: 8000, tools: [echo], ...options });
  closers.push(() => rig.close());
  return rig;
}

test("at four fifths of the window the older part becomes a summary; the newest turns stay whole (CTX-02)", async () => {
  const provider = player(
    SUMMARY,
    says(words(1500)),
    says(words(1500)),
    counts(6500, ...says("third")),
    says("fourth"),
  );
  const rig = await start({ provider });
  const ws = await rig.open();
  await turns(ws, "first request", "second request", "third request");
  expect(ws.types()).not.toContain("compaction");
  await turns(ws, "fourth request");
  const compaction = ws.one("compaction");
  expect(compaction.before_tokens).toBeGreaterThan(6400);
  expect(compaction.after_tokens).toBeLessThan(compaction.before_tokens / 2);
  const summary_request = provider.requests.find(isSummary);
  expect(JSON.stringify(summary_request?.messages)).toContain("first request");
  expect(texts(conversationRequests(rig).at(-1)?.messages ?? [])).toEqual([
    "[Summary of the conversation so far]\n\n## Decisions\nWe use tabs.",
    "third request",
    "third",
    "fourth request",
  ]);
});

test("nothing is left out of a summary, however many calls it takes (CTX-02, CTX-03)", async () => {
  const rig = await start({
    provider: player(
      (request) => says(`summary ${request.max_output_tokens}`),
      ...Array.from({ length: 20 }, () => says(words(700))),
    ),
    capabilities: { max_output_tokens: 32_000 },
    context_window: 32_000,
  });
  const ws = await rig.open();
  const messages = Array.from({ length: 20 }, (_, index) => `marker_${index} ${words(900)}`);
  await turns(ws, ...messages);
  const asked = rig.provider.requests.filter(isSummary);
  expect(asked.length).toBeGreaterThanOrEqual(1);
  for (const { max_output_tokens } of asked) expect(max_output_tokens).toBeLessThan(16_000);
  const summarised = asked.flatMap(({ messages: [prompt] }) => texts(prompt === undefined ? [] : [prompt])).join();
  const left = texts(conversationRequests(rig).at(-1)?.messages ?? []).join();
  for (let index = 0; index < 20; index += 1) expect(`${summarised}${left}`).toContain(`marker_${index} `);
});

test("a tool loop is compacted in its middle: pairs stay together and the request is kept (CTX-02, CTX-07)", async () => {
  const loop = Array.from({ length: 12 }, (_, index) =>
    calls({ id: `c${index}`, name: "echo", arguments: { text: `${index} ${words(900)}` } }),
  );
  const rig = await start({ provider: player(SUMMARY, ...loop, says("All done.")) });
  const ws = await rig.open();
  await turns(ws, "Run it twelve times.");
  expect(ws.types().filter((type) => type === "compaction").length).toBeGreaterThan(1);
  expect(ws.one("turn_ended").outcome).toBe("done");
  for (const { messages } of conversationRequests(rig)) {
    expect(texts(messages)).toContain("Run it twelve times.");
    expect(unpaired(messages)).toEqual([]);
  }
});

function unpaired(messages: readonly Message[]): string[] {
  const asked = messages.flatMap((message) =>
    message.role === "assistant" ? message.tool_calls.map(({ id }) => id) : [],
  );
  const answered = messages.flatMap((message) => (message.role === "tool" ? [message.call_id] : []));
  return [...asked.filter((id) => !answered.includes(id)), ...answered.filter((id) => !asked.includes(id))];
}

test("a second compaction keeps what the first one kept (CTX-02)", async () => {
  let count = 0;
  const provider = player(
    () => says(`summary ${(count += 1)}`),
    ...Array.from({ length: 9 }, (_, index) => says(`answer_${index} ${words(index % 3 === 0 ? 1200 : 150)}`)),
  );
  const rig = await start({ provider });
  const ws = await rig.open();
  for (let index = 0; index < 9; index += 1) {
    await turns(ws, `request_${index} ${words(index % 2 === 0 ? 700 : 60)}`);
    const shown = conversationRequests(rig).at(-1)?.messages ?? [];
    const told = rig.provider.requests.filter(isSummary).flatMap(({ messages }) => texts(messages));
    const known = [...texts(shown), ...told].join();
    for (let earlier = 0; earlier < index; earlier += 1) expect(known).toContain(`answer_${earlier} `);
  }
  expect(count).toBeGreaterThanOrEqual(2);
});

test.each([
  ["fails", FAILED],
  ["says nothing", says("  ")],
  ["gives reasoning alone", [{ type: "reasoning", text: "Hm." }, ...says("")] as ProviderEvent[]],
])("when the model %s, the history is unchanged and a note says so (CTX-04)", async (_what, summary) => {
  const provider = player(() => summary, says(words(1500)), counts(6900, ...says("second")), says("third"));
  const rig = await start({ provider });
  const ws = await rig.open();
  await turns(ws, "one", "two", "three");
  expect(ws.types()).not.toContain("compaction");
  expect(ws.one("info").message).toBe("The conversation is long, but summarising it failed; it stays as it is.");
  expect(texts(conversationRequests(rig).at(-1)?.messages ?? [])).toEqual([
    "one",
    words(1500),
    "two",
    "second",
    "three",
  ]);
  const ask = () => rig.engine.command(ws.ws_id, "/compact", { user_id: "u", name: "Ada" });
  const answer = await atRest(async () => {
    const given = await ask();
    return given.ok && given.output.startsWith("A turn is running") ? { ...given, ok: false } : given;
  });
  expect(answer).toMatchObject({ output: expect.stringContaining("failed, so it stays as it is") });
});

test("an overflow that nobody foresaw gets one compaction and one retry (PROV-15)", async () => {
  const provider = player(SUMMARY, says(words(300)), says(words(300)), OVERFLOW, says("It fits now."));
  const rig = await start({ provider, context_window: 128_000 });
  const ws = await rig.open();
  await turns(ws, "one", "two", "three");
  expect(ws.one("compaction").summary).toContain("We use tabs.");
  expect(ws.kept().findLast((event) => event.type === "assistant")).toMatchObject({ content: "It fits now." });
});

test("an overflow that stays ends the turn after one compaction, saying what to do (PROV-15, CTX-05)", async () => {
  const provider = player(SUMMARY, says(words(300)), says(words(300)), OVERFLOW, OVERFLOW, OVERFLOW);
  const rig = await start({ provider, context_window: 128_000 });
  const ws = await rig.open();
  await turns(ws, "one", "two", "three");
  expect(ws.types().filter((type) => type === "compaction")).toHaveLength(1);
  expect(conversationRequests(rig)).toHaveLength(4);
  expect(ws.one("error")).toMatchObject({ code: "model_context_overflow", message: expect.stringContaining("/clear") });
});

test("instructions that fill the window by themselves end the turn at once in words (CTX-05)", async () => {
  const rig = await start({ context_window: 200 });
  const ws = await rig.open();
  await turns(ws, "hello");
  expect(rig.provider.requests).toEqual([]);
  expect(ws.one("error").message).toMatch(/^The instructions and tools alone need about \d+ of the model's 200 tokens/);
});

test("a cancel while a summary is made leaves the history as it was, and a later one is made (CTX-08)", async () => {
  const begun = Promise.withResolvers<void>();
  let hang = true;
  const conversation: Script[] = [says(words(1500)), counts(6900, ...says("second")), says("third")];
  const play: Script = async function* (request, signal): AsyncGenerator<ProviderEvent> {
    if (!isSummary(request)) {
      const script = conversation.shift() ?? says("over");
      yield* typeof script === "function" ? script(request, signal) : script;
    } else if (hang) {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      yield { type: "failed", failure: { code: "model_cut", message: "Stopped.", detail: "", retryable: false } };
    } else yield* SUMMARY();
  };
  const rig = await start({ provider: new ScriptedProvider().script(...Array.from({ length: 9 }, () => play)) });
  const ws = await rig.open();
  await turns(ws, "one", "two");
  await ws.say("three");
  await begun.promise;
  await rig.engine.cancel(ws.ws_id, false);
  expect(ws.types()).not.toContain("compaction");
  hang = false;
  await turns(ws, "four");
  expect(ws.one("compaction").summary).toContain("We use tabs.");
  expect(texts(conversationRequests(rig).at(-1)?.messages ?? []).at(-1)).toBe("four");
});

test("a rewind behind a compaction keeps the summary of what came before", async () => {
  const provider = player(
    SUMMARY,
    says(words(1500)),
    says(words(1500)),
    counts(6900, ...says("third")),
    says("fourth"),
    says("again"),
  );
  const rig = await start({ provider });
  const ws = await rig.open();
  await turns(ws, "one", "two", "three", "four");
  await atRest(() => rig.engine.rewind(ws.ws_id, 1));
  await turns(ws, "other");
  const shown = texts(conversationRequests(rig).at(-1)?.messages ?? []);
  expect(shown[0]).toContain("We use tabs.");
  expect(shown.at(-1)).toBe("other");
  expect(shown.join()).not.toContain("four");
});
