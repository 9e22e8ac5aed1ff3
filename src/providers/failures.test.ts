import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { modelRequest, outcomeOf, user } from "../../test/support/model_server/model_request.ts";
import type { Outcome } from "../../test/support/model_server/model_request.ts";
import { startModelServer } from "../../test/support/model_server/model_server.ts";
import type { ModelServer } from "../../test/support/model_server/model_server.ts";
import { reply } from "../../test/support/model_server/reply.ts";
import type { Reply } from "../../test/support/model_server/reply.ts";
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
  const request = modelRequest(messages, { ...options, settings });
  return outcomeOf(openaiCompatible.stream(request, new AbortController().signal));
}

async function failureOf(script: Reply, options: Options = {}): Promise<Record<string, unknown>> {
  const outcome = await ask(script, [user("hello")], options);
  if (outcome.last.type !== "failed") throw new Error("The call did not fail.");
  return { ...outcome.last.failure };
}

test("Retry-After in seconds, as a date and absurd (PROV-12)", async () => {
  expect(await failureOf(reply.status(429, { retry_after: 2 }))).toMatchObject({
    code: "model_rate_limited",
    retryable: true,
    retry_after_ms: 2000,
  });
  const date = new Date(Date.now() + 60_000).toUTCString();
  const dated = await failureOf(reply.status(429, { retry_after: date }));
  expect(dated["retry_after_ms"]).toBeGreaterThan(50_000);
  expect(await failureOf(reply.status(429, { retry_after: 99_999 }))).toMatchObject({
    retry_after_ms: 99_999_000,
    message: expect.stringContaining("28 hours"),
  });
  const absurd = await failureOf(reply.status(429, { retry_after: "9".repeat(30) }));
  expect(absurd["retry_after_ms"]).toBe(7 * 24 * 3_600_000);
});

test("an error inside a 200, as JSON, as an event and after text (PROV-14)", async () => {
  const error = { message: "rate limit reached for test-key-1234", code: 429 };
  const whole = await failureOf(reply.errorInside200(error));
  expect(whole).toMatchObject({ code: "model_rate_limited", retryable: true });
  expect(JSON.stringify(whole)).not.toContain("test-key-1234");
  expect(await failureOf(reply.errorInside200(error, { after: { text: "so far" } }))).toMatchObject({
    code: "model_rate_limited",
  });
});

test.each([
  [400, "This model's maximum context length is 8192 tokens", "model_context_overflow"],
  [413, "Request too large", "model_context_overflow"],
  [400, "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000", "model_context_overflow"],
  [429, "You exceeded your current quota: insufficient_quota", "model_rate_limited"],
  [400, "The response was filtered due to the content management policy", "model_content_filter"],
  [500, "the request exceeds the available context size", "model_context_overflow"],
  [429, "Limit on maximum tokens per minute reached; reduce the context length", "model_rate_limited"],
  [401, "bad key", "model_authentication"],
  [404, "no such model", "model_rejected"],
  [400, "unknown field", "model_rejected"],
  [500, "oops", "model_overloaded"],
  [529, "busy", "model_overloaded"],
  [504, "slow", "model_timeout"],
])('status %d with "%s" is %s (PROV-15, PROV-16)', async (status, message, code) => {
  expect(await failureOf(reply.status(status, { message }))).toMatchObject({ code });
});

test("nothing listens, or hangs up", async () => {
  expect(await failureOf(reply.hangUp())).toMatchObject({ code: "model_unreachable", retryable: true });
  const settings = { base_url: "http://127.0.0.1:9/v1" };
  expect(await failureOf(reply.text("x"), { settings })).toMatchObject({
    code: "model_unreachable",
    retryable: true,
  });
});

test("silence ends the call, keep-alives do not (PROV-32)", async () => {
  const settings = { stall_timeout_ms: 100 };
  expect(await failureOf(reply.stall(), { settings })).toMatchObject({ code: "model_timeout", retryable: true });
  expect(await failureOf(reply.stall({ text: "a b c" }), { settings })).toMatchObject({ code: "model_timeout" });
  const warm = await ask(reply.text("late", { warm_up: { comments: 12, every_ms: 50 } }), [user("x")], {
    settings: { stall_timeout_ms: 400 },
  });
  expect(warm.content).toBe("late");
});

test("what came while our own process stood still is not silence (PROV-32)", async () => {
  const choices = [{ delta: { content: "here all along" }, finish_reason: "stop" }];
  const busy = createServer((_incoming, outgoing) => {
    outgoing.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
    const until = performance.now() + 400;
    while (performance.now() < until);
  });
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
  const base_url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}/v1`;
  const outcome = await ask(reply.text(""), [user("x")], { settings: { base_url, stall_timeout_ms: 300 } });
  busy.close();
  expect(outcome.content).toBe("here all along");
});

test("a request that cannot be put together is our fault, not the server's", async () => {
  const image = { type: "image" as const, attachment_id: "p", media_type: "image/png", filename: "p.png", size: 7 };
  const loadAttachment = async (): Promise<never> => {
    throw new Error("the disk is gone");
  };
  server.script([reply.text("x")]);
  const request = modelRequest([{ role: "user", content: [image] }], {
    loadAttachment,
    settings: { base_url: server.base_url },
  });
  const outcome = await outcomeOf(openaiCompatible.stream(request, new AbortController().signal));
  expect(outcome.last).toMatchObject({ failure: { code: "internal", retryable: false, detail: "the disk is gone" } });
});

test("patience beyond what fetch allows by itself", async () => {
  const outcome = await ask(reply.text("late"), [user("x")], { settings: { stall_timeout_ms: 3_600_000 } });
  expect(outcome.content).toBe("late");
});

test("an answer that is not one", async () => {
  expect(await failureOf(reply.raw(["<html>proxy</html>"]))).toMatchObject({ code: "model_malformed" });
  expect(await failureOf(reply.raw(["data: {nonsense\n\n"]))).toMatchObject({ code: "model_malformed" });
  expect(await failureOf(reply.text("x", { finish: null }))).toMatchObject({ code: "model_malformed" });
  expect(await failureOf(reply.cut({ text: "x" }, { after_frames: 2, how: "end" }))).toMatchObject({
    code: "model_cut",
  });
});

test("an abort closes the socket at once (PROV-31)", async () => {
  server.script([reply.stall()]);
  const abort = new AbortController();
  const stream = openaiCompatible.stream(
    modelRequest([user("x")], { settings: { base_url: server.base_url } }),
    abort.signal,
  );
  const outcome = outcomeOf(stream);
  const request = await server.nextRequest();
  abort.abort();
  expect((await outcome).last).toMatchObject({ type: "failed", failure: { retryable: false } });
  expect(await request.ended).toBe("client_hung_up");
});
