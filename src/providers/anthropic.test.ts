import { afterEach, beforeEach, expect, test } from "vitest";
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
import type { Reply } from "../../test/support/model_server/reply.ts";
import type { Capabilities } from "../contracts/provider.ts";
import type { Message } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { anthropic } from "./anthropic.ts";

const WEB_SEARCH: ModelTool = {
  name: "web_search",
  description: "Searches.",
  parameters: { type: "object", properties: {} },
};
const CALL = { name: "read_file", arguments: { path: "a" }, id: "toolu_a" };
const MANUAL: Partial<Capabilities> = { thinking_mode: "manual", effort_levels: ["none", "low", "medium", "high"] };
const ADAPTIVE: Partial<Capabilities> = { thinking_mode: "adaptive", effort_levels: ["none", "low", "high", "max"] };

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
    settings: { model: "claude-x", base_url: server.anthropic_base_url, ...options.settings },
  });
  return outcomeOf(anthropic.stream(request, new AbortController().signal));
}

function body(): Record<string, unknown> {
  return server.requests.at(-1)?.body ?? {};
}

async function sentWith(
  settings: Record<string, unknown>,
  capabilities: Partial<Capabilities>,
  max_output_tokens = 8000,
): Promise<Record<string, unknown>> {
  await ask(reply.text("ok"), undefined, { settings, capabilities, max_output_tokens });
  return body();
}

test("an address with /v1 is meant kindly", async () => {
  const outcome = await ask(reply.text("ok"), undefined, { settings: { base_url: server.base_url } });
  expect(outcome.content).toBe("ok");
});

test("a budget stays below the limit, or thinking is left out (PROV-30)", async () => {
  expect(await sentWith({ effort: "medium" }, MANUAL)).toMatchObject({
    thinking: { type: "enabled", budget_tokens: 4096 },
  });
  expect(await sentWith({ effort: "high" }, MANUAL)).toMatchObject({ thinking: { budget_tokens: 6976 } });
  expect(await sentWith({ effort: "high" }, MANUAL, 200)).not.toHaveProperty("thinking");
  expect(await sentWith({ effort: "" }, MANUAL)).not.toHaveProperty("thinking");
  const cold = await sentWith({ effort: "none", temperature: 0.2 }, MANUAL);
  expect(cold).toMatchObject({ temperature: 0.2 });
  expect(await sentWith({ effort: "low", temperature: 0.2 }, MANUAL)).not.toHaveProperty("temperature");
});

test("an adaptive model gets an effort and no budget", async () => {
  expect(await sentWith({ effort: "xhigh" }, ADAPTIVE)).toMatchObject({
    thinking: { type: "adaptive" },
    output_config: { effort: "max" },
  });
  expect(await sentWith({ effort: "none" }, ADAPTIVE)).toMatchObject({ thinking: { type: "disabled" } });
  expect(await sentWith({ effort: "low" }, ADAPTIVE, 200)).not.toHaveProperty("thinking");
});

test("signatures go back word for word, to the same model only", async () => {
  const options = { settings: { effort: "low" }, capabilities: MANUAL };
  const first = await ask(reply.toolCalls([CALL], { reasoning: "let me think" }), undefined, options);
  const history = [user("hi"), messageOf(first), toolResult("toolu_a", "alpha")];
  await ask(reply.text("ok"), history, options);
  expect((body()["messages"] as { content: unknown[] }[])[1]?.content[0]).toEqual({
    type: "thinking",
    thinking: "let me think",
    signature: "signature-of-12",
  });
  const other = await ask(reply.text("ok"), history, { ...options, settings: { effort: "low", model: "claude-y" } });
  expect(other.content).toBe("ok");
  expect(JSON.stringify(body())).not.toContain("signature");
});

test("a call of another model in the present loop keeps thinking out of it", async () => {
  const history = [user("hi"), assistant("", [{ id: "c", name: "read_file", arguments: "{}" }]), toolResult("c", "r")];
  const outcome = await ask(reply.text("ok"), history, { settings: { effort: "high" }, capabilities: MANUAL });
  expect(outcome.content).toBe("ok");
  expect(body()).not.toHaveProperty("thinking");
});

test("roles alternate, results come first, the last two turns and the system text are cached", async () => {
  const call = { id: "c", name: "read_file", arguments: "{}" };
  await ask(reply.text("ok"), [
    user("one"),
    user("two"),
    assistant("a", [call]),
    user("late"),
    toolResult("c", "r"),
    assistant("b"),
    user("three"),
  ]);
  const messages = body()["messages"] as { role: string; content: Record<string, unknown>[] }[];
  expect(messages.map(({ role, content }) => [role, ...content.map((block) => block["type"])])).toEqual([
    ["user", "text", "text"],
    ["assistant", "text", "tool_use"],
    ["user", "tool_result", "text"],
    ["assistant", "text"],
    ["user", "text"],
  ]);
  expect(messages.map(({ content }) => content.some((block) => "cache_control" in block))).toEqual([
    false,
    false,
    true,
    false,
    true,
  ]);
  expect(body()["system"]).toMatchObject([{ text: "Be brief.", cache_control: { type: "ephemeral" } }]);
});

test("the next request begins as the last one did, but for the marks", async () => {
  const unmarked = (): string =>
    (server.requests.at(-1)?.raw_body ?? "").replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  const history: Message[] = [user("one")];
  const first = await ask(reply.toolCalls([CALL]), history);
  const before = unmarked().split("]}],")[0] ?? "";
  history.push(messageOf(first), toolResult("toolu_a", "r"));
  await ask(reply.text("ok"), history);
  expect(before.length).toBeGreaterThan(50);
  expect(unmarked().startsWith(before)).toBe(true);
});

test("Anthropic searches the web in place of our tool; citations are shown and go back", async () => {
  const citations = [{ url: "https://a.example/", title: "A" }];
  const outcome = await ask(reply.text("Found.", { web_search: "cats", citations }), undefined, {
    native_web_search: true,
  });
  expect((body()["tools"] as { type?: string; name: string }[]).map((tool) => [tool.type ?? "own", tool.name])).toEqual(
    [
      ["own", "read_file"],
      ["web_search_20250305", "web_search"],
    ],
  );
  expect(outcome.infos).toEqual([
    "[Searching the web: cats]",
    "[Found 1 results]",
    "Sources:\n- A: https://a.example/",
  ]);
  const again = await ask(reply.text("ok"), [user("hi"), messageOf(outcome), user("more")], {
    native_web_search: true,
  });
  expect(again.content).toBe("ok");
  expect(JSON.stringify(body())).toContain("sealed");
  expect(JSON.stringify(body())).toContain("encrypted_index");
});

test("deferred tools are found by Anthropic's own search and are told", async () => {
  const deferred = [{ ...READ_FILE, name: "mcp__x__y" }];
  const outcome = await ask(
    reply.toolCalls([{ ...CALL, name: "mcp__x__y" }], { tool_search: ["mcp__x__y"] }),
    undefined,
    { deferred_tools: deferred },
  );
  expect(body()["tools"]).toContainEqual(expect.objectContaining({ name: "mcp__x__y", defer_loading: true }));
  expect(body()["tools"]).toContainEqual({ type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" });
  expect(outcome.expanded).toEqual(["mcp__x__y"]);
  expect(outcome.calls).toHaveLength(1);
});

test("a pause is continued by sending it back as it is (PROV-20)", async () => {
  const options = { native_web_search: true };
  const paused = await ask(reply.text("", { web_search: "cats", finish: "pause" }), undefined, options);
  expect(paused.last).toMatchObject({ stop_reason: "pause" });
  const history: Message[] = [user("hi"), messageOf(paused)];
  const rest = await ask(reply.text("Here it is."), history, options);
  expect((body()["messages"] as { role: string }[]).at(-1)?.role).toBe("assistant");
  history.push(messageOf(rest), user("thanks"));
  expect((await ask(reply.text("ok"), history, options)).content).toBe("ok");
});

test("a refusal says why, and a full context window counts as a limit", async () => {
  const frames = (stop: Record<string, unknown>): string[] =>
    [
      { type: "message_start", message: { usage: { input_tokens: 5 } } },
      { type: "message_delta", delta: stop, usage: { output_tokens: 1, input_tokens: null } },
      { type: "message_stop" },
    ].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
  const refused = await ask(reply.raw(frames({ stop_reason: "refusal", stop_details: { explanation: "Not this." } })));
  expect(refused).toMatchObject({
    infos: ["Not this."],
    last: { stop_reason: "refusal", usage: { prompt_tokens: 5 } },
  });
  expect((await ask(reply.raw(frames({ stop_reason: "model_context_window_exceeded" })))).last).toMatchObject({
    stop_reason: "length",
  });
});
