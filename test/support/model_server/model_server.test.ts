import { afterEach, beforeEach, expect, test } from "vitest";
import { startModelServer } from "./model_server.ts";
import type { ModelServer } from "./model_server.ts";
import { reply } from "./reply.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

function chat(messages: unknown[], more: Record<string, unknown> = {}): Promise<Response> {
  return post("/chat/completions", { model: "m", messages, ...more });
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(server.base_url + path, { method: "POST", body: JSON.stringify(body) });
}

const HELLO = [{ role: "user", content: "hello" }];

test("replies come in order, then the script says that it has none", async () => {
  server.script([reply.text("one"), reply.text("two")]);
  expect(await (await chat(HELLO)).text()).toContain("one");
  expect(await (await chat(HELLO)).text()).toContain("two");
  expect((await chat(HELLO)).status).toBe(500);
});

test("a conversation has its own script, and a function answers what is left", async () => {
  server.script((request) => reply.text(`echo ${request.last_user_text}`));
  server.conversation("hello", [reply.text("mine")]);
  expect(await (await chat(HELLO)).text()).toContain("mine");
  expect(await (await chat(HELLO)).text()).toContain("echo hello");
});

test("requests for titles take no reply from the script", async () => {
  server.script([reply.text("one")]);
  const asked = await chat([{ role: "system", content: "Give it a title." }, ...HELLO]);
  expect(await asked.text()).toContain("A title");
  expect(server.requests).toEqual([]);
  expect(await (await chat(HELLO)).text()).toContain("one");
});

test("a request is waited for, and a gate holds its answer", async () => {
  const { reply: held, open } = reply.gate(reply.text("now"));
  server.script([held]);
  const next = server.nextRequest();
  const answer = chat(HELLO);
  expect((await next).last_user_text).toBe("hello");
  open();
  expect(await (await answer).text()).toContain("now");
});

test("tokens go out at the pace that is set", async () => {
  server.script([reply.text("a b c d", { pace_ms: 10 })]);
  await (await chat(HELLO, { stream: true })).text();
  const request = await server.nextRequest();
  expect(request.tokens_sent_at).toHaveLength(4);
  expect((request.tokens_sent_at[3] ?? 0) - request.received_at).toBeGreaterThan(38);
});

const CALL = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

test.each<[string, unknown[], string]>([
  ["a result without its call", [...HELLO, { role: "tool", tool_call_id: "c", content: "x" }], "without a call"],
  ["a call without its result", [...HELLO, { role: "assistant", tool_calls: [CALL] }], "no result"],
  ["empty content", [...HELLO, { role: "assistant", content: "" }], "no content"],
  ["a key of ours", [{ role: "user", content: "x", sender: "ada" }], "unknown key"],
  ["two user messages", [...HELLO, ...HELLO], "in a row"],
  ["NUL", [{ role: "user", content: "a\0b" }], "NUL"],
])("chat completions: %s is refused", async (_what, messages, problem) => {
  const answer = await chat(messages);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(problem);
  expect(server.problems.join()).toContain(problem);
});

test("messages and responses are checked too", async () => {
  const late = { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "" }] };
  const body = { model: "m", max_tokens: 100, thinking: { type: "enabled", budget_tokens: 200 }, messages: [late] };
  const message = await (await post("/messages", body)).text();
  for (const problem of ["not the user's", "without a signature", "below 1024", "not below max_tokens"]) {
    expect(message).toContain(problem);
  }
  const response = await (await post("/responses", { model: "m", input: [{ type: "reasoning", summary: [] }] })).text();
  for (const problem of ["store is not false", "without the item that follows", "without its content"]) {
    expect(response).toContain(problem);
  }
});
