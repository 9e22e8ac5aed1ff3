import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  assistant,
  messageOf,
  modelRequest,
  outcomeOf,
  READ_FILE,
  toolResult,
  user,
} from "../../test/support/model_server/model_request.ts";
import type { Outcome } from "../../test/support/model_server/model_request.ts";
import { startModelServer } from "../../test/support/model_server/model_server.ts";
import type { ModelServer } from "../../test/support/model_server/model_server.ts";
import { reply } from "../../test/support/model_server/reply.ts";
import type { CallChunking, Reply } from "../../test/support/model_server/reply.ts";
import type { Message } from "../protocol/message.ts";
import { openaiCompatible } from "./openai_compatible.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

type Options = Parameters<typeof modelRequest>[1];

async function ask(script: Reply, messages: Message[] = [user("hello")], options: Options = {}): Promise<Outcome> {
  server.script([script]);
  const settings = { base_url: server.base_url, ...options.settings };
  return outcomeOf(
    openaiCompatible.stream(modelRequest(messages, { ...options, settings }), new AbortController().signal),
  );
}

/** The messages of the last request without the system text. */
async function sent(conversation: Message[], options: Options = {}): Promise<Record<string, unknown>[]> {
  const outcome = await ask(reply.text("ok"), conversation, options);
  expect(outcome.last).toMatchObject({ type: "ended" });
  const messages = server.requests.at(-1)?.body["messages"];
  return Array.isArray(messages) ? messages.slice(1) : [];
}

const TWO_CALLS = [
  { name: "read_file", arguments: { path: "a.txt" }, id: "call_a" },
  { name: "search", arguments: { pattern: 'x "}{" y' }, id: "call_b" },
];

describe("calls in every chunking", () => {
  const chunkings: CallChunking[] = [
    "documented",
    "whole",
    "no_index",
    "all_index_0",
    "repeated_id",
    "empty_ids",
    "interleaved",
  ];
  test.each(chunkings)("%s (PROV-01, PROV-02, PROV-03)", async (chunking) => {
    const outcome = await ask(reply.toolCalls(TWO_CALLS, { chunking, text: "Looking." }));
    expect(outcome.content).toBe("Looking.");
    expect(outcome.calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
      ["read_file", { path: "a.txt" }],
      ["search", { pattern: 'x "}{" y' }],
    ]);
    expect(new Set(outcome.calls.map((call) => call.id)).size).toBe(2);
    expect(outcome.calls.every((call) => call.id !== "")).toBe(true);
    expect(outcome.last).toMatchObject({ type: "ended", stop_reason: "tool_calls" });
  });

  test("an id used before, or twice, is replaced (PROV-04)", async () => {
    const history = [
      user("go"),
      assistant("", [{ id: "call_0", name: "read_file", arguments: "{}" }]),
      toolResult("call_0", "x"),
    ];
    const calls = [0, 1].map(() => ({ name: "read_file", arguments: { path: "a" }, id: "call_0" }));
    const first = await ask(reply.toolCalls(calls), history);
    expect(new Set(["call_0", ...first.calls.map((call) => call.id)]).size).toBe(3);
  });

  test("a call cut off by the token limit is not given out", async () => {
    const outcome = await ask(reply.toolCalls(TWO_CALLS, { finish: "length" }));
    expect(outcome.calls).toEqual([]);
    expect(outcome.last).toMatchObject({ type: "ended", stop_reason: "length" });
  });

  test("a call in a stream that breaks is not given out (PROV-11)", async () => {
    const outcome = await ask(reply.cut({ text: "Wait", calls: TWO_CALLS }, { after_frames: 7 }));
    expect(outcome.calls).toEqual([]);
    expect(outcome.last).toMatchObject({ type: "failed", failure: { code: "model_cut", retryable: true } });
  });
});

describe("text and reasoning", () => {
  test("reasoning fields are kept apart (PROV-07)", async () => {
    for (const reasoning_field of ["reasoning_content", "reasoning"] as const) {
      const outcome = await ask(reply.text("Four.", { reasoning: "two and two", reasoning_field }));
      expect(outcome).toMatchObject({ content: "Four.", reasoning: "two and two" });
    }
  });

  test("tags split over chunks, and a tag before a call (PROV-08)", async () => {
    const split = await ask(reply.text("<think>a</think>b", { chunks: ["<th", "ink>a</thi", "nk>b"] }));
    expect(split).toMatchObject({ content: "b", reasoning: "a" });
    const open = await ask(reply.toolCalls(TWO_CALLS, { text: "<think>never closed" }));
    expect(open.calls).toHaveLength(2);
    expect(open).toMatchObject({ content: "", reasoning: "never closed" });
  });

  test("framing: CRLF, comments, no space, cut characters, no end mark (PROV-26)", async () => {
    const framing = { crlf: true, comments: true, no_space: true, split_bytes: true, no_done: true };
    const outcome = await ask(reply.text("Grüße 🦀 漢字", { framing }));
    expect(outcome.content).toBe("Grüße 🦀 漢字");
    expect(outcome.last).toMatchObject({ type: "ended", stop_reason: "stop" });
  });

  test("a usage chunk without choices, and running usage, count once (PROV-06)", async () => {
    const usage = { input: 50, output: 7, cache_read: 20 };
    for (const usage_in of ["last_chunk", "every_chunk"] as const) {
      const outcome = await ask(reply.text("one two three", { usage, usage_in }));
      expect(outcome.last).toMatchObject({
        usage: { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57, cache_read_tokens: 20 },
      });
    }
  });

  test("a server that does not stream is understood", async () => {
    const body = {
      choices: [{ message: { role: "assistant", content: "whole" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3 },
    };
    const outcome = await ask(reply.raw([JSON.stringify(body)], { content_type: "application/json" }));
    expect(outcome).toMatchObject({ content: "whole", last: { type: "ended", usage: { prompt_tokens: 3 } } });
  });

  test("lists of parts in place of text", async () => {
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "Yes." },
    ];
    const choices = [{ delta: { content: parts }, finish_reason: "stop" }];
    const outcome = await ask(reply.raw([`data: ${JSON.stringify({ choices })}\n\n`]));
    expect(outcome).toMatchObject({ content: "Yes.", reasoning: "hm" });
  });

  test("filter and refusal are said as such (PROV-20)", async () => {
    expect((await ask(reply.text("no", { finish: "content_filter" }))).last).toMatchObject({
      stop_reason: "content_filter",
    });
    const chunks = [{ delta: { refusal: "I will not." } }, { delta: {}, finish_reason: "stop" }];
    const frames = chunks.map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    const refused = await ask(reply.raw(frames));
    expect(refused).toMatchObject({ content: "I will not.", last: { stop_reason: "refusal" } });
  });
});

describe("what goes out", () => {
  const call = { id: "call_1", name: "read_file", arguments: '{"path":"a"}' };

  test("empty answers, orphans and late words (PROV-19, PROV-22, PROV-23, PROV-24)", async () => {
    const messages = await sent([
      toolResult("gone", "orphan"),
      assistant("left over"),
      user("one"),
      assistant(""),
      user("two"),
      assistant("", [call, { ...call, id: "call_2" }]),
      toolResult("call_2", "second"),
      user("while it ran"),
      toolResult("call_1", "first"),
      assistant("done"),
      toolResult("call_1", "the same id later"),
    ]);
    expect(messages.map((message) => message["role"])).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
      "assistant",
    ]);
    expect(messages[2]?.["content"]).toBe("one\n\ntwo");
    expect(messages[4]).toMatchObject({ tool_call_id: "call_1", content: "first" });
    expect(messages[6]?.["content"]).toBe("while it ran");
  });

  test("broken arguments become a legal object, legal ones stay as they were (TC-03, PROV-27)", async () => {
    const texts = ["", '{"a":', "[1]", "null", '"{\\"command\\":\\"ls\\"}"', '{ "b" : 1 }'];
    const calls = texts.map((text, index) => ({ id: `call_${index}`, name: "bash", arguments: text }));
    const messages = await sent([user("x"), assistant("", calls), ...calls.map(({ id }) => toolResult(id, "r"))]);
    const wireCalls = messages[1]?.["tool_calls"] as { function: { arguments: string } }[];
    const wire = wireCalls.map((one) => one.function.arguments);
    expect(wire[0]).toBe("{}");
    expect(JSON.parse(wire[1] ?? "")).toEqual({ unreadable_arguments: '{"a":' });
    expect(JSON.parse(wire[4] ?? "")).toEqual({ command: "ls" });
    expect(wire[5]).toBe('{ "b" : 1 }');
  });

  test("a picture in a tool result follows in a user message (PROV-25)", async () => {
    const image = { type: "image" as const, attachment_id: "p", media_type: "image/png", filename: "p.png", size: 7 };
    const conversation = [
      user("look"),
      assistant("", [call]),
      toolResult("call_1", "here", { content: [image] }),
      user("and?"),
    ];
    const seeing = await sent(conversation);
    expect(seeing[3]?.["content"]).toContainEqual({
      type: "image_url",
      image_url: { url: "data:image/png;base64,cGljdHVyZQ==" },
    });
    const blind = await sent(conversation, { capabilities: { supports_vision: false } });
    expect(JSON.stringify(blind)).not.toContain("image_url");
    expect(blind[2]?.["content"]).toContain("cannot see pictures");
  });

  test("reasoning goes back to the model that sent it, with its calls only (PROV-09)", async () => {
    const outcome = await ask(reply.toolCalls(TWO_CALLS.slice(0, 1), { reasoning: "hm" }));
    const conversation = [user("hello"), messageOf(outcome), toolResult("call_a", "r")];
    expect((await sent(conversation))[1]).toMatchObject({ reasoning_content: "hm" });
    expect((await sent(conversation, { settings: { model: "other" } }))[1]).not.toHaveProperty("reasoning_content");
    const other = [user("x"), assistant("", [call]), toolResult("call_1", "r")];
    expect((await sent(other, { settings: { model: "deepseek-v4" } }))[1]).toMatchObject({ reasoning_content: "" });
  });

  test("what a server sends along with a call goes back with it", async () => {
    const signature = { google: { thought_signature: "sealed" } };
    const deltas = [
      { index: 0, id: "call_a", function: { name: "read_file", arguments: "{}" }, extra_content: signature },
      { index: 1, id: "call_b", function: { name: "read_file", arguments: "{}" } },
    ];
    const choices = [{ delta: { tool_calls: deltas }, finish_reason: "tool_calls" }];
    const outcome = await ask(reply.raw([`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`]));
    const messages = await sent([user("x"), messageOf(outcome), toolResult("call_a", "1"), toolResult("call_b", "2")]);
    const calls = messages[1]?.["tool_calls"] as Record<string, unknown>[];
    expect(calls[0]?.["extra_content"]).toEqual(signature);
    expect(calls[1]).not.toHaveProperty("extra_content");
  });

  test("NUL and broken surrogates are taken out (PROV-29)", async () => {
    const messages = await sent([user("a\u0000b\ud800c"), assistant("x\u0000"), user("y")]);
    expect(messages[0]?.["content"]).toBe("ab\ufffdc");
  });

  test("parameters follow the capabilities", async () => {
    await sent([user("x")], { settings: { effort: "low", temperature: 0.5 }, tools: [READ_FILE] });
    expect(server.requests.at(-1)?.body).toMatchObject({
      max_tokens: 4000,
      temperature: 0.5,
      parallel_tool_calls: true,
    });
    expect(server.requests.at(-1)?.body).not.toHaveProperty("reasoning_effort");
    await sent([user("x")], {
      settings: { effort: "low", temperature: 0.5 },
      capabilities: {
        effort_levels: ["none", "medium"],
        token_param: "max_completion_tokens",
        supports_parallel_tools: false,
      },
    });
    const body = server.requests.at(-1)?.body;
    expect(body).toMatchObject({ max_completion_tokens: 4000, reasoning_effort: "medium" });
    expect(body).not.toHaveProperty("temperature");
    expect(body).not.toHaveProperty("parallel_tool_calls");
  });
});

test("models are listed; a dead server gives null, one without a list an empty one", async () => {
  const signal = new AbortController().signal;
  expect(await openaiCompatible.listModels({ base_url: server.base_url, api_key: "" }, signal)).toEqual([
    "scripted-model",
  ]);
  expect(await openaiCompatible.listModels({ base_url: "http://127.0.0.1:9/v1", api_key: "" }, signal)).toBeNull();
  const nowhere = { base_url: `${server.base_url}/nowhere`, api_key: "" };
  expect(await openaiCompatible.listModels(nowhere, signal)).toEqual([]);
});
