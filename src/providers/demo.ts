import type { ModelRequest, Provider, ProviderEvent } from "../contracts/provider.ts";
import { systemClock } from "../lib/clock.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { isJsonObject } from "../protocol/json.ts";
import { textOf } from "../protocol/message.ts";
import type { Message, ToolCall, ToolMessage } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { DEMO_EXAMPLES, DEMO_REQUESTS } from "./demo_requests.ts";
import type { DemoStep } from "./demo_requests.ts";
import { stopped } from "./failures.ts";
import { parseJson } from "./wire_text.ts";

/** Milliseconds between pieces of text: quick to read along, slow enough to be seen streaming. */
const PACE_MS = 12;

/** Characters of a result that are repeated in words. */
const RESULT_SHOWN_MAX = 1500;
const TITLE_WORDS_MAX = 7;

const WHO_I_AM = [
  "I am turnstone's built-in demo, not a model: no model is configured yet.",
  "To connect one, set TURNSTONE_BASE_URL and TURNSTONE_MODEL (any OpenAI-compatible server, such as Ollama),",
  "or OPENAI_API_KEY, or ANTHROPIC_API_KEY, and start again.",
].join(" ");

const DEMO_PLAN = [
  "1. Look at what is there.",
  "2. Make the smallest change that serves.",
  "3. Check it and say what was done.",
  "",
  "(A plan by the demo; a model would look closer.)",
];

/** What the demo says next. */
interface DemoAnswer {
  text: string;
  calls: ToolCall[];
}

/** Stands in while no model is configured: it understands a few plain requests and makes real calls for them. */
export const demo: Provider = {
  name: "demo",
  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
    const { text, calls } = answerTo(request);
    try {
      for (const piece of text.match(/\s*\S+\s*/g) ?? []) {
        await systemClock.sleep(PACE_MS, signal);
        yield { type: "content", text: piece };
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      yield { type: "failed", failure: stopped() };
      return;
    }
    for (const call of calls) yield { type: "tool_call", call };
    yield { type: "ended", stop_reason: calls.length > 0 ? "tool_calls" : "stop", usage: usageOf(request, text) };
  },
  async listModels() {
    return ["demo"];
  },
};

function answerTo(request: ModelRequest): DemoAnswer {
  const start = request.messages.findLastIndex((message) => message.role === "user");
  const asked = request.messages[start];
  const words = asked?.role === "user" ? textOf(asked.content).trim() : "";
  if (request.tools.length === 0) return say(withoutTools(request.system, words));
  const since = request.messages.slice(start + 1);
  const steps = stepsFor(words, request.tools);
  if (steps === null) return say(unknownRequest(words, request));
  const done = since.filter((message) => message.role === "assistant").length;
  const results = lastResults(since);
  const next = steps[done];
  if (next === undefined || results.some((result) => result.is_error)) return say(resultsInWords(results));
  if (!mayBeCalled(next.tool, request.tools)) {
    return say(`For that I need the tool ${next.tool}, which is not offered here.`);
  }
  const call = { id: newPrefixedId("call"), name: next.tool, arguments: JSON.stringify(next.arguments) };
  return { text: opening(request.messages, next), calls: [call] };
}

function say(text: string): DemoAnswer {
  return { text, calls: [] };
}

/** The calls that a request comes to; null when it is not understood. */
function stepsFor(words: string, tools: readonly ModelTool[]): DemoStep[] | null {
  const named = namedTool(words, tools);
  if (named !== null) return [named];
  for (const known of DEMO_REQUESTS) {
    const match = known.pattern.exec(words);
    if (match !== null) return known.steps(match.slice(1).map((group) => (group ?? "").trim()));
  }
  return null;
}

/** `call NAME with {…}` reaches any tool, those of MCP servers too. */
function namedTool(words: string, tools: readonly ModelTool[]): DemoStep | null {
  const match = /\bcall\s+(?:the tool\s+)?[`"]?([\w-]+)[`"]?(?:\s+with\s+(\{[\s\S]*\}))?/i.exec(words);
  const tool = match?.[1] ?? "";
  if (!mayBeCalled(tool, tools)) return null;
  const parsed = parseJson(match?.[2] ?? "{}");
  return { tool, arguments: isJsonObject(parsed) ? parsed : {} };
}

/** Tools of MCP servers can be called although they are not listed, where there are many. */
function mayBeCalled(name: string, tools: readonly ModelTool[]): boolean {
  return name.startsWith("mcp__") || isOffered(name, tools);
}

function isOffered(name: string, tools: readonly ModelTool[]): boolean {
  return tools.some((tool) => tool.name === name);
}

/** How a refusal begins, before what only a model needs to be told. */
const DENIAL = /^([^\n]+?)\. It was not run\. This is a decision/;

/** What it says before it calls a tool. */
const INTENTIONS = new Map([
  ["bash", "Let me run that."],
  ["read_file", "Let me read it."],
  ["write_file", "Let me write that."],
  ["edit_file", "Let me change that."],
  ["search", "Let me look for it."],
  ["math", "Let me work that out."],
  ["man", "Let me look that up."],
  ["web_fetch", "Let me read that page."],
  ["web_search", "Let me look on the web."],
  ["task", "Let a helper do that."],
  ["plan", "Let me make a plan."],
  ["remember", "I will remember that."],
  ["recall", "Let me remember."],
  ["forget", "I will forget that."],
  ["notify", "Let me send that."],
]);

function opening(messages: readonly Message[], step: DemoStep): string {
  const first = !messages.some((message) => message.role === "assistant");
  const plain = INTENTIONS.get(step.tool) ?? `Let me use ${step.tool} for that.`;
  return first ? `${WHO_I_AM}\n\n${plain}` : plain;
}

function lastResults(since: readonly Message[]): ToolMessage[] {
  const start = since.findLastIndex((message) => message.role === "assistant");
  return since.slice(start + 1).filter((message) => message.role === "tool");
}

function resultsInWords(results: readonly ToolMessage[]): string {
  if (results.length === 0) return "Done.";
  return results
    .map((result) => {
      const text = textOf(result.content).trim();
      const denial = DENIAL.exec(text)?.[1];
      if (result.is_error && denial !== undefined) return `${denial}. I did not run it; say what I should do instead.`;
      const shown = text.length > RESULT_SHOWN_MAX ? `${text.slice(0, RESULT_SHOWN_MAX)}\n…` : text;
      if (result.is_error) return `${result.name} did not do it: ${shown}`;
      const fence = text.includes("```") ? "````" : "```";
      return text === ""
        ? `${result.name} is done; it had nothing to say.`
        : `${result.name} answered:\n${fence}\n${shown}\n${fence}`;
    })
    .join("\n\n");
}

/** Sub-agents and questions beside the conversation get an answer of the kind they want. */
function unknownRequest(words: string, request: ModelRequest): string {
  const isSubAgent = !isOffered("plan", request.tools) && !isOffered("task", request.tools);
  if (isSubAgent) {
    return [`# Plan\n\nGoal: ${words.slice(0, 300)}\n`, ...DEMO_PLAN].join("\n");
  }
  const examples = DEMO_EXAMPLES.map((example) => `- ${example}`).join("\n");
  return `${WHO_I_AM}\n\nI understand only a few plain requests. Try one of these:\n${examples}`;
}

function withoutTools(system: string, words: string): string {
  if (/\btitle\b/i.test(system)) return titleFor(words);
  return `(Demo, no model is configured.) ${words.slice(0, RESULT_SHOWN_MAX)}`;
}

/** The beginning of what the person said first, which stands behind `Person:`. */
function titleFor(words: string): string {
  const asked = (/^Person: (.*)$/m.exec(words)?.[1] ?? "").split(/\s+/).slice(0, TITLE_WORDS_MAX).join(" ");
  return asked === "" ? "A look at the demo" : asked.charAt(0).toUpperCase() + asked.slice(1);
}

/** About four characters a token: there is nobody who counts. */
function usageOf(
  request: ModelRequest,
  text: string,
): { prompt_tokens: number; completion_tokens: number; total_tokens: number } {
  const characters = request.messages.reduce((sum, { role, content }) => {
    return sum + (role === "assistant" ? content.length : textOf(content).length);
  }, request.system.length);
  const prompt_tokens = Math.ceil(characters / 4);
  const completion_tokens = Math.ceil(text.length / 4);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
