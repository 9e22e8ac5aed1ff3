import { afterAll, beforeAll, expect, test } from "vitest";
import { hostile, startServers } from "../../test/support/mcp/servers.ts";
import type { CallResult } from "../../test/support/tool_context.ts";

let servers: ReturnType<typeof startServers>;

// The promised structure cannot be compiled by any validator; results come all the same (MCP-15).
const OUTPUT_SCHEMA = { $ref: "#/$defs/nowhere", $schema: "https://json-schema.org/draft/2020-12/schema" };

beforeAll(async () => {
  servers = startServers({ s: hostile({ tools: [{ name: "give", inputSchema: {}, outputSchema: OUTPUT_SCHEMA }] }) });
  await servers.manager.settled();
});

afterAll(() => servers.close());

function ran(result: CallResult): Extract<CallResult, { prepared: true }> {
  if (!result.prepared) throw new Error(result.error);
  return result;
}

test.each([
  [
    "text",
    {
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    },
    "a\nb",
    false,
  ],
  ["nothing", { content: [] }, "(no output)", false],
  ["an answer without content", {}, "(no output)", false],
  ["structured content alone (MCP-17)", { content: [], structuredContent: { n: 1 } }, '{\n  "n": 1\n}', false],
  ["text in spite of a promised structure (MCP-16)", { content: [{ type: "text", text: "plain" }] }, "plain", false],
  ["an error (MCP-19)", { isError: true, content: [{ type: "text", text: "no luck" }] }, "Error: no luck", true],
  [
    "a sentence that sounds like a lost session (MCP-23)",
    { isError: true, content: [{ type: "text", text: "session not found" }] },
    "Error: session not found",
    true,
  ],
  [
    "a sound (MCP-18)",
    { content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
    "[audio: audio/wav, 3 bytes]",
    false,
  ],
  [
    "an embedded text (MCP-18)",
    { content: [{ type: "resource", resource: { uri: "file:///a.txt", text: "inside" } }] },
    "[resource file:///a.txt]\ninside",
    false,
  ],
  [
    "an embedded blob (MCP-18)",
    { content: [{ type: "resource", resource: { uri: "x://b", blob: "AAAAAA==", mimeType: "application/zip" } }] },
    "[resource x://b: application/zip, 4 bytes]",
    false,
  ],
  [
    "a link (MCP-18)",
    { content: [{ type: "resource_link", uri: "file:///c", name: "c", mimeType: "text/plain", size: 12 }] },
    "[link to a resource: c file:///c (text/plain; 12 bytes)]",
    false,
  ],
  ["something new", { content: [{ type: "hologram" }, null, 7] }, "[content of an unknown kind: hologram]", false],
])("a result that is %s", async (_name, result, output, is_error) => {
  expect(ran(await servers.call("give", { result }))).toMatchObject({ output, is_error, effect: "done" });
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

test("a picture goes to a model that sees, and is described to one that does not (MCP-18)", async () => {
  const { call, bench } = servers;
  const result = {
    content: [
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ],
  };
  const seen = ran(await call("give", { result }));
  expect(seen.output).toBe("[image: image/png, 70 bytes]\n[image: image/png, 3 bytes; its bytes are no picture]");
  expect(seen.images).toMatchObject([{ media_type: "image/png", width: 1, height: 1 }]);
  expect(bench.attachments.size).toBe(1);
  const blind = ran(await call("give", { result }, { model: { supports_vision: false } }));
  expect(blind.images).toEqual([]);
  expect(blind.output).not.toContain(PIXEL.slice(0, 20));
});
