import { afterEach, beforeEach, expect, test } from "vitest";
import {
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
import type { Reply } from "../../test/support/model_server/reply.ts";
import type { Message } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { openai } from "./openai.ts";

const WEB_SEARCH: ModelTool = {
  name: "web_search",
  description: "Searches.",
  parameters: { type: "object", properties: {} },
};
const CALL = { name: "read_file", arguments: { path: "a" }, id: "call_a" };

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

type Options = Parameters<typeof modelRequest>[1];

async function ask(script: Reply, messages: Message[] = [user("hi")], options: Options = {}): Promise<Outcome> {
  server.script([script]);
  const request = modelRequest(messages, {
    tools: [READ_FILE, WEB_SEARCH],
    ...options,
    settings: { model: "gpt-5.4", base_url: server.base_url, ...options.settings },
    capabilities: { effort_levels: ["none", "low", "high"], token_param: "max_output_tokens", ...options.capabilities },
  });
  return outcomeOf(openai.stream(request, new AbortController().signal));
}

function body(): Record<string, unknown> {
  return server.requests.at(-1)?.body ?? {};
}

test("what is asked for: instructions, limit, effort, nothing stored, reasoning sealed", async () => {
  await ask(reply.text("ok"), undefined, { settings: { effort: "medium", temperature: 0.3 } });
  expect(body()).toMatchObject({
    instructions: "Be brief.",
    max_output_tokens: 4000,
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high" },
    parallel_tool_calls: true,
  });
  expect(body()).not.toHaveProperty("temperature");
  await ask(reply.text("ok"), undefined, { settings: { temperature: 0.3 }, capabilities: { effort_levels: [] } });
  expect(body()).toMatchObject({ temperature: 0.3 });
  expect(body()).not.toHaveProperty("include");
});

test("output items go back word for word, for the same model only", async () => {
  const first = await ask(reply.toolCalls([CALL], { reasoning: "think", text: "Let me look." }));
  const history = [user("hi"), messageOf(first), toolResult("call_a", "alpha")];
  await ask(reply.text("ok"), history);
  expect((body()["input"] as { type?: string }[]).map((item) => item.type ?? "user")).toEqual([
    "user",
    "reasoning",
    "message",
    "function_call",
    "function_call_output",
  ]);
  expect(JSON.stringify(body())).toContain("sealed-5");
  await ask(reply.text("ok"), history, { settings: { model: "gpt-6" } });
  expect(JSON.stringify(body())).not.toContain("sealed-5");
});

test("reasoning that led to nothing is not sent back", async () => {
  const first = await ask(reply.empty({ reasoning: "think" }));
  expect(first.last).toMatchObject({ type: "ended", stop_reason: "stop" });
  expect(messageOf(first)).not.toHaveProperty("replay");
});

test("OpenAI searches the web in place of our tool, and the sources are shown", async () => {
  const citations = [
    { url: "https://a.example/", title: "A" },
    { url: "https://a.example/", title: "A again" },
  ];
  const outcome = await ask(reply.text("Found.", { web_search: "cats", citations }), undefined, {
    native_web_search: true,
  });
  expect((body()["tools"] as { type: string; name?: string }[]).map((tool) => tool.name ?? tool.type)).toEqual([
    "read_file",
    "web_search",
  ]);
  expect(body()["tools"]).toContainEqual({ type: "web_search" });
  expect(outcome.infos).toEqual(["[Searching the web: cats]", "Sources:\n- A: https://a.example/"]);
});

test("a search of the web raises the least effort, which OpenAI refuses with it", async () => {
  const options = { settings: { effort: "minimal" }, capabilities: { effort_levels: ["minimal", "low"] } };
  await ask(reply.text("ok"), undefined, { ...options, native_web_search: true });
  expect(body()).toMatchObject({ reasoning: { effort: "low" } });
  await ask(reply.text("ok"), undefined, options);
  expect(body()).toMatchObject({ reasoning: { effort: "minimal" } });
});

test("deferred tools are found by OpenAI's own search and are told", async () => {
  const deferred = [{ ...READ_FILE, name: "mcp__x__y" }];
  const found = reply.toolCalls([{ ...CALL, name: "mcp__x__y" }], { tool_search: ["mcp__x__y"] });
  const outcome = await ask(found, undefined, { deferred_tools: deferred });
  expect(body()["tools"]).toContainEqual(expect.objectContaining({ name: "mcp__x__y", defer_loading: true }));
  expect(body()["tools"]).toContainEqual({ type: "tool_search" });
  expect(outcome.expanded).toEqual(["mcp__x__y"]);
  const again = await ask(reply.text("ok"), [user("hi"), messageOf(outcome), toolResult("call_a", "r")], {
    deferred_tools: deferred,
  });
  expect(again.last.type).toBe("ended");
});

test("a filtered and a failed response", async () => {
  expect((await ask(reply.text("half", { finish: "content_filter" }))).last).toMatchObject({
    stop_reason: "content_filter",
  });
  const failed = {
    type: "response.failed",
    response: { status: "failed", error: { code: "rate_limit_exceeded", message: "slow down" } },
  };
  const outcome = await ask(reply.raw([`data: ${JSON.stringify(failed)}\n\n`]));
  expect(outcome.last).toMatchObject({ type: "failed", failure: { code: "model_rate_limited" } });
});

test("a response that came whole is understood", async () => {
  const output = [
    {
      type: "message",
      id: "m",
      role: "assistant",
      content: [{ type: "output_text", text: "Whole.", annotations: [] }],
    },
    { type: "function_call", id: "f", call_id: "call_w", name: "read_file", arguments: "{}" },
  ];
  const whole = { status: "completed", error: null, output, usage: { input_tokens: 3, output_tokens: 2 } };
  const outcome = await ask(reply.raw([JSON.stringify(whole)], { content_type: "application/json" }));
  expect(outcome).toMatchObject({
    content: "Whole.",
    calls: [{ id: "call_w" }],
    last: { usage: { prompt_tokens: 3 } },
  });
});
