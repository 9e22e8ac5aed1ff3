import { argumentsTextOf, finishOf, piecesOf } from "./reply.ts";
import type { AnswerOptions, ScriptedCall, ScriptedUsage } from "./reply.ts";
import { isObjectJson, isRecord, listIn, textOfContent, textProblems, unknownKeys } from "./wire.ts";
import type { Frame, Wire } from "./wire.ts";

let answers = 0;

/** OpenAI chat completions. */
export const chatWire: Wire = {
  name: "chat",
  path: "/v1/chat/completions",
  frames,
  whole(answer, request) {
    const usage = usageOf(answer);
    return {
      ...envelope(request, "chat.completion"),
      choices: [{ index: 0, message: wholeMessage(answer), finish_reason: finishName(answer) }],
      ...(usage === null ? {} : { usage }),
    };
  },
  errorFrame: (error) => ({ data: JSON.stringify({ error }), token: false }),
  problems,
  firstUserText: (body) =>
    textOfContent(listIn(body["messages"]).find((message) => message["role"] === "user")?.["content"]),
  systemText: (body) =>
    textOfContent(listIn(body["messages"]).find((message) => message["role"] === "system")?.["content"]),
  lastUserText: (body) =>
    textOfContent(listIn(body["messages"]).findLast((message) => message["role"] === "user")?.["content"]),
};

function frames(answer: AnswerOptions, request: Record<string, unknown>): Frame[] {
  const head = envelope(request, "chat.completion.chunk");
  const usage = usageOf(answer);
  const running = usage !== null && answer.usage_in === "every_chunk" ? { usage } : {};
  const chunk = (delta: Record<string, unknown>, token: boolean, finish_reason: string | null = null): Frame => ({
    data: JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }], ...running }),
    token,
  });
  const result: Frame[] = [chunk({ role: "assistant", content: "" }, false)];
  const field = answer.reasoning_field ?? "reasoning_content";
  for (const piece of piecesOf(answer.reasoning ?? "", undefined)) result.push(chunk({ [field]: piece }, true));
  for (const content of piecesOf(answer.text ?? "", answer.chunks)) result.push(chunk({ content }, true));
  for (const citation of answer.citations ?? []) {
    result.push(
      chunk(
        { annotations: [{ type: "url_citation", url_citation: { ...citation, start_index: 0, end_index: 0 } }] },
        false,
      ),
    );
  }
  for (const deltas of callDeltas(answer)) result.push(chunk({ tool_calls: deltas }, false));
  const finish = finishName(answer);
  if (finish !== null) result.push(chunk({}, false, finish));
  if (usage !== null && running.usage === undefined) {
    result.push({ data: JSON.stringify({ ...head, choices: [], usage }), token: false });
  }
  if (answer.framing?.no_done !== true) result.push({ data: "[DONE]", token: false });
  return result;
}

function envelope(request: Record<string, unknown>, object: string): Record<string, unknown> {
  answers += 1;
  return { id: `chatcmpl-${answers}`, object, created: 1_700_000_000, model: request["model"] };
}

function finishName(answer: AnswerOptions): string | null {
  const finish = finishOf(answer);
  return finish === "refusal" || finish === "pause" ? "stop" : finish;
}

function wholeMessage(answer: AnswerOptions): Record<string, unknown> {
  const calls = (answer.calls ?? []).map((call) => ({ id: idOf(call), type: "function", function: functionOf(call) }));
  return {
    role: "assistant",
    content: answer.text ?? null,
    ...(answer.reasoning === undefined ? {} : { [answer.reasoning_field ?? "reasoning_content"]: answer.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function usageOf(answer: AnswerOptions): Record<string, unknown> | null {
  if (answer.usage === null) return null;
  const usage: ScriptedUsage = answer.usage ?? { input: 100, output: 10 };
  const cached = { cached_tokens: usage.cache_read ?? 0 };
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details:
      usage.cache_write === undefined ? cached : { ...cached, cache_write_tokens: usage.cache_write },
  };
}

function idOf(call: ScriptedCall): string {
  return call.id ?? `call_${(answers += 1)}`;
}

function functionOf(call: ScriptedCall): Record<string, unknown> {
  return { name: call.name, arguments: argumentsTextOf(call) };
}

/** The deltas of all calls; each inner list goes into one chunk. */
function callDeltas(answer: AnswerOptions): Record<string, unknown>[][] {
  const chunking = answer.chunking ?? "documented";
  const lanes = (answer.calls ?? []).map((call, index): Record<string, unknown>[] => {
    const id = chunking === "empty_ids" ? "" : idOf(call);
    const position = chunking === "no_index" ? {} : { index: chunking === "all_index_0" ? 0 : index };
    const head = { ...position, id, type: "function" };
    if (chunking === "whole") return [{ ...head, function: functionOf(call) }];
    const pieces = piecesOf(argumentsTextOf(call), 3);
    if (chunking === "repeated_id") {
      return pieces.map((piece) => ({ ...head, function: { name: call.name, arguments: piece } }));
    }
    return [
      { ...head, function: { name: call.name, arguments: "" } },
      ...pieces.map((piece) => ({ ...position, function: { arguments: piece } })),
    ];
  });
  if (chunking !== "interleaved") return lanes.flat().map((delta) => [delta]);
  const longest = Math.max(0, ...lanes.map((lane) => lane.length));
  const inTurns = Array.from({ length: longest }, (_, step) => lanes.flatMap((lane) => lane.slice(step, step + 1)));
  return inTurns.flat().map((delta) => [delta]);
}

const BODY_KEYS = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning_effort",
  "web_search_options",
];
const MESSAGE_KEYS: Record<string, readonly string[]> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", "reasoning_content", "reasoning"],
  tool: ["role", "content", "tool_call_id"],
};

function problems(body: Record<string, unknown>): string[] {
  const messages = listIn(body["messages"]);
  const found = [...textProblems(body), ...unknownKeys("the body", body, BODY_KEYS)];
  if (typeof body["model"] !== "string" || body["model"] === "") found.push("model is missing");
  if (messages.length === 0) found.push("messages is empty");
  const spoken = messages.filter((message) => message["role"] !== "system");
  if (spoken.length > 0 && spoken[0]?.["role"] !== "user") {
    found.push("the first message after the system text is not the user's");
  }
  for (const [index, message] of messages.entries()) {
    found.push(...messageProblems(message, index, messages[index - 1]));
  }
  found.push(...pairingProblems(messages));
  for (const tool of listIn(body["tools"])) found.push(...toolProblems(tool));
  return found;
}

function messageProblems(
  message: Record<string, unknown>,
  index: number,
  before: Record<string, unknown> | undefined,
): string[] {
  const where = `messages[${index}]`;
  const role = String(message["role"]);
  const known = MESSAGE_KEYS[role];
  if (known === undefined) return [`${where} has the role "${role}"`];
  const found = unknownKeys(where, message, known);
  if (role === "system" && index > 0) found.push(`${where} is a late system message`);
  if (role === "user" && before?.["role"] === "user") found.push(`${where} is a second user message in a row`);
  const calls = listIn(message["tool_calls"]);
  if (calls.length === 0 && textOfContent(message["content"]) === "" && !hasImage(message)) {
    found.push(`${where} has no content`);
  }
  if ("content" in message && calls.length > 0 && message["content"] === "") found.push(`${where} has empty content`);
  if (role !== "user" && hasImage(message)) found.push(`${where} holds a picture but is not the user's`);
  for (const call of calls) {
    const called = isRecord(call["function"]) ? call["function"] : {};
    if (!isObjectJson(called["arguments"])) found.push(`${where} has a call whose arguments are not a JSON object`);
    if (typeof call["id"] !== "string" || call["id"] === "") found.push(`${where} has a call without an id`);
    if (typeof called["name"] !== "string" || called["name"] === "") found.push(`${where} has a call without a name`);
  }
  return found;
}

function hasImage(message: Record<string, unknown>): boolean {
  return listIn(message["content"]).some((part) => part["type"] === "image_url");
}

/** Each call has exactly one result, right after its message; no id is used twice. */
function pairingProblems(messages: readonly Record<string, unknown>[]): string[] {
  const found: string[] = [];
  const used = new Set<unknown>();
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      if (!open.delete(message["tool_call_id"])) found.push(`messages[${index}] is a result without a call before it`);
      continue;
    }
    if (open.size > 0) found.push(`messages[${index}] comes before every call has its result`);
    const ids = listIn(message["tool_calls"]).map((call) => call["id"]);
    for (const id of ids) if (used.has(id)) found.push(`messages[${index}] uses the id ${String(id)} again`);
    for (const id of ids) used.add(id);
    open = new Set(ids);
  }
  if (open.size > 0) found.push("the last calls have no result");
  return found;
}

function toolProblems(tool: Record<string, unknown>): string[] {
  const described = isRecord(tool["function"]) ? tool["function"] : {};
  const found = [
    ...unknownKeys("a tool", tool, ["type", "function", "defer_loading"]),
    ...unknownKeys("a tool's function", described, ["name", "description", "parameters", "strict"]),
  ];
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(described["name"]))) {
    found.push(`a tool is named "${String(described["name"])}"`);
  }
  if (!isRecord(described["parameters"])) found.push("a tool has no parameters");
  return found;
}
