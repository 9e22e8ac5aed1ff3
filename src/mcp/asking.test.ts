import { afterEach, expect, test } from "vitest";
import { hostile, startServers, type StartedServers } from "../../test/support/mcp/servers.ts";
import type { ToolContext } from "../contracts/tool.ts";
import type { McpRequest } from "../protocol/mcp_request.ts";

let servers: StartedServers;

afterEach(() => servers.close());

/** What a hostile server is answered, and what people saw of it. */
async function ask(method: string, params: object, fields: Partial<ToolContext> = {}) {
  const seen: McpRequest[] = [];
  const askPeople: ToolContext["askPeople"] = async (_server, request) => {
    seen.push(request);
    return { action: "accept", content: {} };
  };
  servers = startServers({ s: hostile() });
  await servers.manager.settled();
  const result = await servers.call("ask", { method, params: params as never }, { askPeople, ...fields });
  return { seen, answer: result.prepared ? result.output : result.error };
}

function form(properties: unknown): object {
  return { message: "Fill it in.", requestedSchema: { type: "object", properties } };
}

const MANY = Object.fromEntries(Array.from({ length: 1000 }, (_value, index) => [`f${index}`, { type: "string" }]));

test.each<[string, string, object]>([
  ["a form of a thousand fields", "elicitation/create", form(MANY)],
  ["a form in a form", "elicitation/create", form({ inner: { type: "object", properties: {} } })],
  ["a choice of nothing", "elicitation/create", form({ pick: { type: "string", enum: [] } })],
  [
    "a script for an address",
    "elicitation/create",
    { mode: "url", message: "!", elicitationId: "1", url: "javascript:alert(1)" },
  ],
  [
    "a file for an address",
    "elicitation/create",
    { mode: "url", message: "!", elicitationId: "1", url: "file:///etc/passwd" },
  ],
  [
    "a prompt too long to read",
    "sampling/createMessage",
    { maxTokens: 5, messages: [{ role: "user", content: { type: "text", text: "x".repeat(60_000) } }] },
  ],
  ["a prompt that nobody asks", "sampling/createMessage", { maxTokens: 5, messages: [] }],
  [
    "a picture to look at",
    "sampling/createMessage",
    { maxTokens: 5, messages: [{ role: "user", content: { type: "image", data: "AA==", mimeType: "image/png" } }] },
  ],
])("%s is refused, and nobody is bothered with it", async (_what, method, params) => {
  const { seen, answer } = await ask(method, params);
  expect(answer).toMatch(/"code":-3260[23]/);
  expect(seen).toEqual([]);
});

test("what people read of a server is written out, cut, and without our secrets", async () => {
  const { seen } = await ask("elicitation/create", {
    ...form({ a: { type: "string", title: "Your\u202E name\nplease" } }),
    message: "m".repeat(5000),
  });
  expect(seen).toMatchObject([{ fields: [{ name: "a", title: "Your<U+202E> name please" }] }]);
  expect(seen[0]?.kind === "form" && seen[0].message).toHaveLength(2000);
});
