import { execFile } from "node:child_process";
import { promisify } from "node:util";
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
import type { Reply } from "../../test/support/model_server/reply.ts";
import type { Capabilities } from "../contracts/provider.ts";
import type { ImagePart, Message } from "../protocol/message.ts";
import { createProviders } from "./index.ts";

/** What every wire format must do alike. The server refuses, in each format, what the vendor would refuse. */
const CASES: { name: string; model: string; capabilities: Partial<Capabilities> }[] = [
  { name: "openai-compatible", model: "local-model", capabilities: {} },
  {
    name: "openai",
    model: "gpt-5",
    capabilities: { effort_levels: ["low", "high"], token_param: "max_output_tokens" },
  },
  {
    name: "anthropic",
    model: "claude-sonnet-4-5",
    capabilities: { effort_levels: ["low", "high"], thinking_mode: "manual" },
  },
];

const providers = createProviders();
const CALLS = [
  { name: "read_file", arguments: { path: "a.txt" }, id: "call_a" },
  { name: "search", arguments: { query: 'quote " and }' }, id: "call_b" },
];
const PICTURE: ImagePart = {
  type: "image",
  attachment_id: "p1",
  media_type: "image/png",
  filename: "cat.png",
  size: 7,
};

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

type Options = Parameters<typeof modelRequest>[1];

async function ask(
  name: string,
  script: Reply,
  messages: Message[],
  options: Options = {},
  signal?: AbortSignal,
): Promise<Outcome> {
  server.script([script]);
  const known = CASES.find((one) => one.name === name);
  const provider = providers.get(name);
  if (known === undefined || provider === undefined) throw new Error(`There is no provider ${name}.`);
  const base_url = name === "anthropic" ? server.anthropic_base_url : server.base_url;
  const request = modelRequest(messages, {
    tools: [READ_FILE],
    ...options,
    settings: { provider: name, model: known.model, base_url, effort: "low", ...options.settings },
    capabilities: { ...known.capabilities, ...options.capabilities },
  });
  return outcomeOf(provider.stream(request, signal ?? new AbortController().signal));
}

function lastBody(): string {
  return server.requests.at(-1)?.raw_body ?? "";
}

describe.each(CASES)("$name", ({ name }) => {
  test("text comes as it was streamed, with its usage (REQ-MODEL-001)", async () => {
    const outcome = await ask(name, reply.text("Grüße, 🦀!", { usage: { input: 40, output: 5 } }), [user("hi")]);
    expect(outcome.content).toBe("Grüße, 🦀!");
    expect(outcome.last).toMatchObject({
      type: "ended",
      stop_reason: "stop",
      usage: { prompt_tokens: 40, completion_tokens: 5, total_tokens: 45 },
    });
    expect(server.requests[0]?.headers["authorization"] ?? server.requests[0]?.headers["x-api-key"]).toContain(
      "test-key-1234",
    );
  });

  test("cached tokens are part of the prompt (PROV-33)", async () => {
    const usage =
      name === "anthropic"
        ? { input: 10, output: 5, cache_read: 70, cache_write: 20 }
        : { input: 100, output: 5, cache_read: 70, cache_write: 20 };
    const outcome = await ask(name, reply.text("ok", { usage }), [user("hi")]);
    expect(outcome.last).toMatchObject({
      usage: { prompt_tokens: 100, cache_read_tokens: 70, cache_creation_tokens: 20 },
    });
  });

  test("parallel calls come whole and in order, and their results go back (REQ-MODEL-002)", async () => {
    const history: Message[] = [user("look")];
    const first = await ask(name, reply.toolCalls(CALLS, { text: "Looking." }), history);
    expect(first.calls.map((call) => [call.id, call.name, JSON.parse(call.arguments)])).toEqual(
      CALLS.map((call) => [call.id, call.name, call.arguments]),
    );
    history.push(messageOf(first), toolResult("call_b", "beta"), user("hurry"), toolResult("call_a", "alpha"));
    const second = await ask(name, reply.text("Done."), history);
    expect(second.last).toMatchObject({ type: "ended", stop_reason: "stop" });
    expect(lastBody().indexOf("alpha")).toBeLessThan(lastBody().indexOf("beta"));
    expect(lastBody().indexOf("beta")).toBeLessThan(lastBody().indexOf("hurry"));
  });

  test("reasoning is kept apart and goes back in a loop of calls (PROV-07, PROV-09, REQ-MODEL-004)", async () => {
    const history: Message[] = [user("look")];
    const first = await ask(name, reply.toolCalls(CALLS, { reasoning: "let me think about it" }), history);
    expect(first).toMatchObject({ content: "", reasoning: "let me think about it" });
    history.push(messageOf(first), toolResult("call_a", "alpha"), toolResult("call_b", "beta"));
    expect((await ask(name, reply.text("Done."), history)).last.type).toBe("ended");
    expect(lastBody()).toMatch(/let me think about it/);
  });

  test("pictures from people and from tools reach a model that sees, words one that does not (PROV-25)", async () => {
    const history: Message[] = [
      { role: "user", content: [{ type: "text", text: "what is this?" }, PICTURE] },
      assistant("", [{ id: "c1", name: "read_file", arguments: '{"path":"cat.png"}' }]),
      toolResult("c1", "", { content: [{ type: "text", text: "a picture" }, PICTURE] }),
    ];
    expect((await ask(name, reply.text("A cat."), history)).content).toBe("A cat.");
    expect(lastBody().match(/cGljdHVyZQ==/g)).toHaveLength(2);
    const blind = await ask(name, reply.text("A cat."), history, { capabilities: { supports_vision: false } });
    expect(blind.last.type).toBe("ended");
    expect(lastBody()).not.toContain("cGljdHVyZQ==");
    expect(lastBody()).toContain("cannot see pictures");
  });

  test("a picture that is gone is named", async () => {
    const part: ImagePart = { ...PICTURE, attachment_id: "gone" };
    const outcome = await ask(name, reply.text("ok"), [{ role: "user", content: [part] }], {
      loadAttachment: async () => null,
    });
    expect(outcome.last.type).toBe("ended");
    expect(lastBody()).toContain("no longer kept");
  });

  test("an empty answer ends, and does no harm later (PROV-19)", async () => {
    const history: Message[] = [user("hi")];
    const empty = await ask(name, reply.empty(), history);
    expect(empty).toMatchObject({ content: "", calls: [], last: { type: "ended", stop_reason: "stop" } });
    history.push(messageOf(empty), user("hello?"));
    expect((await ask(name, reply.text("Yes."), history)).content).toBe("Yes.");
    const thought = await ask(name, reply.empty({ reasoning: "hm" }), history);
    history.push(messageOf(thought), user("again"));
    expect((await ask(name, reply.text("Yes."), history)).content).toBe("Yes.");
  });

  test("oddities in the history harm no request (PROV-22, PROV-24, PROV-27, PROV-29)", async () => {
    const broken = [
      { id: "call_1", name: "bash", arguments: '{"a":' },
      { id: "call:2/with.odd characters and far more than sixty-four of them in all", name: "bash", arguments: "" },
    ];
    const history: Message[] = [
      toolResult("gone", "orphan"),
      assistant("a\u0000b\ud83d", broken),
      toolResult("call_1", "x\u0000y\udc00"),
      toolResult(broken[1]?.id ?? "", "", { content: [] }),
      user("\ud800"),
      user(" "),
    ];
    const outcome = await ask(name, reply.text("ok"), history);
    expect(server.problems).toEqual([]);
    expect(outcome.content).toBe("ok");
    expect(broken[0]?.arguments).toBe('{"a":');
  });

  test("a call without its result gets one in words", async () => {
    const history = [user("x"), assistant("", [{ id: "c1", name: "read_file", arguments: "{}" }]), user("never mind")];
    expect((await ask(name, reply.text("ok"), history)).content).toBe("ok");
    expect(lastBody()).toContain("outcome is unknown");
  });

  // REQ-MODEL-003
  test("calls of an answer that was cut short are not given out and leave no trace (PROV-18)", async () => {
    for (const script of [
      reply.toolCalls(CALLS, { finish: "length", reasoning: "hm", text: "I look" }),
      reply.cut({ text: "I look", calls: CALLS }, { after_frames: 8 }),
      reply.cut({ text: "I look", calls: CALLS }, { after_frames: 8, how: "end" }),
    ]) {
      const history: Message[] = [user("look")];
      const outcome = await ask(name, script, history);
      expect(outcome.calls).toEqual([]);
      const { last } = outcome;
      expect(messageOf(outcome)).not.toHaveProperty("replay");
      expect(["length", "model_cut"]).toContain(last.type === "failed" ? last.failure.code : last.stop_reason);
      history.push(messageOf(outcome), user("go on"));
      expect((await ask(name, reply.text("ok"), history)).content).toBe("ok");
    }
  });

  test("blocks kept for replay hold no call that was dropped since (PROV-18)", async () => {
    const outcome = await ask(name, reply.toolCalls(CALLS, { reasoning: "hm" }), [user("look")]);
    const dropped = { ...messageOf(outcome), content: "I stopped.", tool_calls: [] };
    expect((await ask(name, reply.text("ok"), [user("look"), dropped, user("go on")])).content).toBe("ok");
  });

  test("an id that was used before is replaced (PROV-04)", async () => {
    const history = [
      user("x"),
      assistant("", [{ id: "call_a", name: "read_file", arguments: "{}" }]),
      toolResult("call_a", "1"),
    ];
    const outcome = await ask(name, reply.toolCalls(CALLS), history);
    expect(outcome.calls.map((call) => call.id)).not.toContain("call_a");
  });

  test("framing: CRLF, comments, cut characters (PROV-26)", async () => {
    const framing = { crlf: true, comments: true, no_space: true, split_bytes: true };
    expect((await ask(name, reply.text("漢字 🦀", { framing }), [user("x")])).content).toBe("漢字 🦀");
  });

  test("failures are understood", async () => {
    const codes = async (script: Reply): Promise<string> => {
      const { last } = await ask(name, script, [user("x")]);
      return last.type === "failed" ? last.failure.code : last.type;
    };
    expect(await codes(reply.status(429, { retry_after: 1 }))).toBe("model_rate_limited");
    expect(await codes(reply.status(529, { message: "Overloaded" }))).toBe("model_overloaded");
    expect(await codes(reply.status(401, { message: "invalid key" }))).toBe("model_authentication");
    expect(await codes(reply.status(400, { message: "prompt is too long: 210000 tokens > 200000 maximum" }))).toBe(
      "model_context_overflow",
    );
    expect(
      await codes(
        reply.errorInside200(
          { message: "Overloaded", type: "overloaded_error", code: "overloaded" },
          { after: { text: "a b" } },
        ),
      ),
    ).toBe("model_overloaded");
    expect(await codes(reply.hangUp())).toBe("model_unreachable");
  });

  test("refusals are told (PROV-20, REQ-MODEL-008)", async () => {
    if (name === "openai-compatible") return; // Has no such reason; its refusal field is tested beside it.
    const outcome = await ask(name, reply.text("I cannot help.", { finish: "refusal" }), [user("x")]);
    expect(outcome).toMatchObject({ content: "I cannot help.", last: { stop_reason: "refusal" } });
  });

  test("an abort closes the socket, before and in the middle of the answer (PROV-31, REQ-MODEL-006)", async () => {
    for (const script of [reply.stall(), reply.stall({ text: "one two three" })]) {
      const abort = new AbortController();
      const outcome = ask(name, script, [user("x")], {}, abort.signal);
      const request = await server.nextRequest();
      abort.abort();
      expect((await outcome).last).toMatchObject({ type: "failed", failure: { retryable: false } });
      expect(await request.ended).toBe("client_hung_up");
    }
  });

  test("silence ends the call (PROV-32, REQ-MODEL-007)", async () => {
    const outcome = await ask(name, reply.stall({ text: "one two" }), [user("x")], {
      settings: { stall_timeout_ms: 150 },
    });
    expect(outcome.last).toMatchObject({ type: "failed", failure: { code: "model_timeout" } });
  });

  test("a request for a title fits (PROV-30)", async () => {
    const outcome = await ask(name, reply.text("A title"), [user("x")], {
      max_output_tokens: 200,
      settings: { effort: "high" },
    });
    expect(outcome.content).toBe("A title");
  });

  test("models are listed", async () => {
    const base_url = name === "anthropic" ? server.anthropic_base_url : server.base_url;
    const models = await providers.get(name)?.listModels({ base_url, api_key: "k" }, new AbortController().signal);
    expect(models).toEqual(["scripted-model"]);
  });
});

const PAIRS = CASES.flatMap((one) =>
  CASES.filter((other) => other !== one).map((other) => [one.name, other.name] as const),
);

// REQ-MODEL-005
test.each(PAIRS)("a conversation is handed over from %s to %s and back, in the middle of calls", async (one, other) => {
  const history: Message[] = [user("go")];
  for (const [turn, name] of [one, other, one, one].entries()) {
    const calls = [{ name: "read_file", arguments: { path: `${turn}` }, id: `call_${turn}` }];
    const outcome = await ask(name, reply.toolCalls(calls, { text: `step ${turn}`, reasoning: "hm" }), history);
    expect(outcome.calls).toHaveLength(1);
    history.push(messageOf(outcome), toolResult(`call_${turn}`, `result ${turn}`));
  }
  const last = await ask(other, reply.text("All done.", { reasoning: "so" }), history);
  history.push(messageOf(last), user("thanks"));
  expect((await ask(one, reply.text("Welcome."), history)).content).toBe("Welcome.");
  expect(server.problems).toEqual([]);
});

test("each provider is found by the name that settings use", () => {
  expect([...providers.keys()]).toEqual(["openai-compatible", "openai", "anthropic", "demo"]);
});

test("no vendor's SDK is loaded before a call needs it (REQ-MODEL-009)", async () => {
  const program = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ resolve: (...args) => (urls.push(args[2](args[0], args[1]).url), args[2](args[0], args[1])) });
    await import(${JSON.stringify(new URL("index.ts", import.meta.url).href)});
    console.log(JSON.stringify(urls));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  expect(stdout).toContain("providers/demo.ts");
  expect(stdout).not.toMatch(/node_modules\/(openai|@anthropic-ai|undici)\//);
});
