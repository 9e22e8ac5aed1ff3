import { expect, test } from "vitest";
import { messageOf, modelRequest, outcomeOf, toolResult, user } from "../../test/support/model_server/model_request.ts";
import type { KeptCall } from "../contracts/store.ts";
import { denialResult } from "../pipeline/execute.ts";
import type { Message } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { demo } from "./demo.ts";

const NAMES = [
  "bash",
  "read_file",
  "edit_file",
  "write_file",
  "search",
  "math",
  "web_fetch",
  "remember",
  "recall",
  "plan",
  "notify",
  "man",
  "echo_back",
];
const TOOLS: ModelTool[] = NAMES.map((name) => ({ name, description: name, parameters: { type: "object" } }));
const signal = new AbortController().signal;

function ask(messages: Message[], tools = TOOLS): ReturnType<typeof outcomeOf> {
  return outcomeOf(demo.stream(modelRequest(messages, { tools }), signal));
}

test.each<[string, string, unknown]>([
  ["list the files", "bash", { command: "ls -la" }],
  ["Please run `uname -a`", "bash", { command: "uname -a" }],
  ["write hello.txt: Hello!", "write_file", { path: "hello.txt", content: "Hello!\n" }],
  ["read hello.txt", "read_file", { path: "hello.txt" }],
  ["search for a.b", "search", { query: "a\\.b" }],
  ["what is 2**100?", "math", { code: "print(2**100)" }],
  ["integrate x*sin(x)", "math", { code: 'x = symbols("x")\nprint(integrate(x*sin(x), x))' }],
  ["remember that my favourite colour is green", "remember", { key: "my favourite colour", value: "green" }],
  ["what do you remember?", "recall", {}],
  ["plan a web site", "plan", { prompt: "a web site" }],
  ["notify ada: lunch is ready", "notify", { username: "ada", message: "lunch is ready" }],
  ["fetch https://example.com/a?b=c", "web_fetch", { url: "https://example.com/a?b=c", question: expect.any(String) }],
  ["Show me the man page of ls", "man", { page: "ls" }],
  ['call echo_back with {"a": 1}', "echo_back", { a: 1 }],
])("%s", async (words, name, expected) => {
  const outcome = await ask([user(words)]);
  expect(outcome.calls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual([[name, expected]]);
  expect(outcome.last).toMatchObject({ type: "ended", stop_reason: "tool_calls" });
});

test("it says that it is a demo, that no model is configured, and how to connect one (REQ-MODEL-015)", async () => {
  const outcome = await ask([user("Tell me a story")]);
  expect(outcome.content).toContain("demo, not a model");
  expect(outcome.content).toContain("no model is configured");
  expect(outcome.content).toContain("TURNSTONE_BASE_URL");
  expect(outcome.calls).toEqual([]);
});

test("it carries out steps one after the other, and puts the result into words", async () => {
  const messages: Message[] = [user('replace "a" with "b" in x.txt')];
  const first = await ask(messages);
  messages.push(messageOf(first), toolResult(first.calls[0]?.id ?? "", "1\ta"));
  const second = await ask(messages);
  expect(second.calls[0]).toMatchObject({ name: "edit_file" });
  messages.push(messageOf(second), toolResult(second.calls[0]?.id ?? "", "Replaced one place.", { name: "edit_file" }));
  const third = await ask(messages);
  expect(third.calls).toEqual([]);
  expect(third.content).toContain("Replaced one place.");
});

test("an error ends the steps and is told", async () => {
  const messages: Message[] = [user('replace "a" with "b" in x.txt')];
  const first = await ask(messages);
  messages.push(messageOf(first), toolResult(first.calls[0]?.id ?? "", "There is no such file.", { is_error: true }));
  expect(await ask(messages)).toMatchObject({ calls: [], content: expect.stringContaining("There is no such file.") });
});

test("who said no reads that they said no, and not what only a model is told", async () => {
  const messages: Message[] = [user("run `ls`")];
  const first = await ask(messages);
  const kept: KeptCall = {
    call_id: first.calls[0]?.id ?? "",
    name: "bash",
    needs_approval: true,
    effect: "side_effect",
    resources: [],
    hash: "",
    subject: "ls",
    approval_label: "bash",
  };
  const { output } = denialResult(kept, { by: "Ada", feedback: "not on a Friday", reason: "person" }).event;
  messages.push(messageOf(first), toolResult(kept.call_id, output, { is_error: true, name: "bash" }));
  const { content } = await ask(messages);
  expect(content).toBe(
    "Ada denied this call and said: not on a Friday. I did not run it; say what I should do instead.",
  );
});

test("it uses no tool that is not offered", async () => {
  const outcome = await ask([user("run `ls`")], TOOLS.slice(1));
  expect(outcome.calls).toEqual([]);
  expect(outcome.content).toContain("not offered");
});

test("an abort ends it in the middle", async () => {
  const abort = new AbortController();
  const types: string[] = [];
  for await (const event of demo.stream(modelRequest([user("Tell me a story")]), abort.signal)) {
    types.push(event.type);
    abort.abort();
  }
  expect(types).toEqual(["content", "failed"]);
});
