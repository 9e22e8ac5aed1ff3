import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { McpField, McpRequest } from "../src/protocol/mcp_request.ts";
import { mcpForm, mcpRequestCard } from "./render/mcp_request.ts";
import { startBench, until, userTurn, type Bench } from "./testing/bench.ts";
import type { SentMessage } from "./testing/scripted_server.ts";

const COMMON = { description: "", required: false };
const FIELDS: McpField[] = [
  {
    ...COMMON,
    name: "town",
    title: "Town",
    required: true,
    type: "text",
    format: null,
    length_min: 0,
    length_max: 4000,
    default: "Bern",
  },
  { ...COMMON, name: "nights", title: "Nights", type: "number", integer: true, minimum: 1, maximum: 9, default: 2 },
  { ...COMMON, name: "window", title: "A window", type: "boolean", default: true },
  {
    ...COMMON,
    name: "meals",
    title: "Meals",
    type: "choice",
    choices: ["a", "b", "c"].map((value) => ({ value, title: value.toUpperCase() })),
    multiple: true,
    chosen_min: 0,
    chosen_max: 2,
    default: ["b"],
  },
];

/** A call that a server asks something for. */
async function ask(bench: Bench, request: McpRequest): Promise<SentMessage & { thread: string }> {
  bench.link("Ada");
  const message = await bench.begin("Ada", "Go.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, { type: "mcp_request", request_id: "mcp_1", call_id: "c", server: "inn", request });
  return message;
}

function answers(bench: Bench): unknown[] {
  return bench.server.calls
    .filter(({ name }) => name.startsWith("POST") && name.includes("/mcp_requests/"))
    .map(({ body }) => body);
}

test("a form shows what was given and what would be taken, and sends what the person entered", async () => {
  await using bench = await startBench();
  const request: McpRequest = { kind: "form", message: "Where to?", fields: FIELDS };
  const given = { meals: ["a", "c"] };
  bench.server.refuse = ({ method, url }) =>
    method === "GET" && url.includes("/mcp_requests/mcp_1")
      ? { status: 200, body: { request_id: "mcp_1", server: "inn", request, given } }
      : null;
  const message = await ask(bench, request);
  const ada = bench.practice.as("Ada");
  const form = await ada.press(await bench.sees(message.thread, "Where to?"), "Answer…");
  if (form.outcome !== "modal") throw new Error(form.outcome);
  await ada.submit(form, { field_0: "Chur", field_3: ["1"] });
  await until(() => answers(bench).length > 0);
  expect(answers(bench)).toEqual([
    { action: "accept", partial: false, content: { town: "Chur", nights: "2", window: "true", meals: ["b"] } },
  ]);
});

test("a page is opened only by whoever agreed, and its address is for that person alone", async () => {
  await using bench = await startBench();
  const request: McpRequest = { kind: "link", message: "Pay there.", url: "https://pay.example/42?x=1" };
  bench.server.refuse = ({ method, url }) =>
    method === "GET" && url.includes("/mcp_requests/mcp_1")
      ? { status: 200, body: { request_id: "mcp_1", server: "inn", request, given: {} } }
      : null;
  const message = await ask(bench, request);
  const card = await bench.sees(message.thread, "https://pay.example/42?x=1");
  expect(bench.practice.messageAsText(card)).toContain("It leads to `pay.example`");
  const ada = bench.practice.as("Ada");
  await ada.press(card, "Open…");
  const link = await bench.practice.waitFor(() =>
    ada.sees(message.thread).find((one) => one.content.includes("agreed")),
  );
  expect(JSON.stringify(link.components)).toContain('"url":"https://pay.example/42?x=1"');
  expect(bench.practice.as("Ben").sees(message.thread)).not.toContainEqual(expect.objectContaining({ id: link.id }));
  expect(answers(bench)).toEqual([{ action: "accept" }]);
});

test("a prompt for our model is shown whole, and what its call outlived loses its buttons", async () => {
  await using bench = await startBench();
  const long = "x".repeat(5000);
  const messages = [{ role: "user" as const, text: long }];
  const message = await ask(bench, { kind: "sampling", system: "Be brief.", messages, output_tokens_max: 50 });
  const card = await bench.sees(message.thread, "up to 50 tokens");
  expect(card.attachments.map(({ filename }) => filename)).toEqual(["prompt.txt"]);
  bench.server.emit(message.ws_id, {
    type: "tool_result",
    call_id: "c",
    name: "mcp__inn__book",
    output: "gone",
    is_error: true,
  });
  const over = await bench.sees(message.thread, "The call was over before anybody answered");
  expect(over.id).toBe(card.id);
  expect(bench.practice.messageAsText(over)).not.toContain("[Approve]");
});

test("where nobody can be asked, the server gets that for an answer", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Go.");
  bench.practice.faults.closeDms("Ada", true);
  const forbidden = { kind: "status", status: 403, body: { code: 50013, message: "Missing Permissions" } } as const;
  bench.practice.faults.onRequest({ method: "POST", path: `/channels/${message.thread}/messages` }, forbidden);
  bench.server.emit(message.ws_id, userTurn(message));
  const request: McpRequest = { kind: "form", message: "Where to?", fields: FIELDS };
  bench.server.emit(message.ws_id, { type: "mcp_request", request_id: "mcp_1", call_id: "c", server: "inn", request });
  await until(() => answers(bench).length > 0);
  expect(answers(bench)).toEqual([{ action: "cancel" }]);
});

const words = fc.string({ unit: "binary", maxLength: 600 });
const choices = fc.array(fc.record({ value: words, title: words }), { minLength: 1, maxLength: 25 });
const field: fc.Arbitrary<McpField> = fc
  .record({ name: words, title: words, description: words, required: fc.boolean() })
  .chain((common) =>
    fc.oneof(
      fc.record({ length_max: fc.integer({ min: 0, max: 4000 }), default: fc.option(words) }).map((one) => ({
        ...common,
        ...one,
        type: "text" as const,
        format: null,
        length_min: 0,
      })),
      choices.map((list) => ({
        ...common,
        type: "choice" as const,
        choices: list,
        multiple: true,
        chosen_min: 0,
        chosen_max: list.length,
        default: [],
      })),
    ),
  );

test("whatever a server writes, its card and its forms keep to what the platform takes", () => {
  const request: fc.Arbitrary<McpRequest> = fc.oneof(
    fc
      .record({ message: words, fields: fc.array(field, { maxLength: 25 }) })
      .map((one) => ({ kind: "form" as const, ...one })),
    fc.record({ system: words, text: fc.string({ unit: "binary", maxLength: 4000 }) }).map(({ system, text }) => ({
      kind: "sampling" as const,
      system,
      messages: [{ role: "user" as const, text }],
      output_tokens_max: 10,
    })),
  );
  fc.assert(
    fc.property(words, request, (server, asked) => {
      const { blocks } = mcpRequestCard("mcp_1", server, asked, null);
      const texts = blocks.map((block) => (block.kind === "text" ? block.text : ""));
      expect(texts.join("").length).toBeLessThanOrEqual(4000);
      for (const block of blocks) if (block.kind === "text") expect(block.text.trim()).not.toBe("");
      if (asked.kind !== "form" || asked.fields.length === 0) return;
      const open = { request_id: "mcp_1", server, request: asked, given: {} };
      const form = mcpForm(open, asked.fields, { page: 0, card: "1".repeat(20) });
      expect(form.title.length).toBeLessThanOrEqual(45);
      for (const { label, hint = "-" } of form.fields) {
        expect(label.trim().length).toBeGreaterThan(0);
        expect(label.length).toBeLessThanOrEqual(45);
        expect(hint.length).toBeLessThanOrEqual(100);
      }
      expect(form.id.length).toBeLessThanOrEqual(100);
    }),
  );
});
