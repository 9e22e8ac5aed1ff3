import { argumentsTextOf, finishOf, piecesOf } from "./reply.ts";
import type { AnswerOptions } from "./reply.ts";
import { isRecord, listIn, textOfContent, textProblems, unknownKeys } from "./wire.ts";
import type { Frame, Wire } from "./wire.ts";

let answers = 0;

/** Anthropic messages. */
export const anthropicWire: Wire = {
  name: "anthropic",
  path: "/v1/messages",
  frames,
  whole(answer, request) {
    return {
      ...messageOf(request),
      content: blocksOf(answer).map((block) => block.whole),
      stop_reason: stopReason(answer),
      usage: usageOf(answer),
    };
  },
  errorFrame: (error) => frame("error", { error: { type: "api_error", ...error } }),
  problems,
  firstUserText: (body) =>
    textOfContent(listIn(body["messages"]).find((message) => message["role"] === "user")?.["content"]),
  systemText: (body) => textOfContent(body["system"]),
  lastUserText: (body) =>
    textOfContent(listIn(body["messages"]).findLast((message) => message["role"] === "user")?.["content"]),
};

/** A content block: how it begins, what is added, and what it is in the end. */
interface Block {
  start: Record<string, unknown>;
  deltas: { delta: Record<string, unknown>; token: boolean }[];
  whole: Record<string, unknown>;
}

function frame(type: string, data: Record<string, unknown>, token = false): Frame {
  return { event: type, data: JSON.stringify({ type, ...data }), token };
}

function frames(answer: AnswerOptions, request: Record<string, unknown>): Frame[] {
  const usage = usageOf(answer);
  const result = [
    frame("message_start", { message: { ...messageOf(request), usage: { ...usage, output_tokens: 1 } } }),
    frame("ping", {}),
  ];
  for (const [index, block] of blocksOf(answer).entries()) {
    result.push(frame("content_block_start", { index, content_block: block.start }));
    for (const { delta, token } of block.deltas) result.push(frame("content_block_delta", { index, delta }, token));
    result.push(frame("content_block_stop", { index }));
  }
  const stop_reason = stopReason(answer);
  if (stop_reason === null) return result;
  result.push(
    frame("message_delta", {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage["output_tokens"] },
    }),
  );
  if (answer.framing?.no_done !== true) result.push(frame("message_stop", {}));
  return result;
}

function messageOf(request: Record<string, unknown>): Record<string, unknown> {
  answers += 1;
  return {
    id: `msg_${answers}`,
    type: "message",
    role: "assistant",
    model: request["model"],
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function blocksOf(answer: AnswerOptions): Block[] {
  const blocks: Block[] = [];
  if (answer.reasoning !== undefined) blocks.push(thinking(answer.reasoning));
  if (answer.tool_search !== undefined) blocks.push(...toolSearch(answer.tool_search));
  if (answer.web_search !== undefined) blocks.push(...webSearch(answer.web_search, answer.citations ?? []));
  if (answer.text !== undefined && answer.text !== "") blocks.push(text(answer.text, answer));
  for (const call of answer.calls ?? []) {
    const id = call.id ?? `toolu_${(answers += 1)}`;
    blocks.push(toolUse({ type: "tool_use", id, name: call.name }, argumentsTextOf(call)));
  }
  return blocks;
}

function thinking(words: string): Block {
  const signature = `signature-of-${words.length}`;
  const deltas = piecesOf(words, undefined).map((piece) => ({
    delta: { type: "thinking_delta", thinking: piece },
    token: true,
  }));
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [...deltas, { delta: { type: "signature_delta", signature }, token: false }],
    whole: { type: "thinking", thinking: words, signature },
  };
}

function text(words: string, answer: AnswerOptions): Block {
  const citations = (answer.citations ?? []).map((citation) => ({
    type: "web_search_result_location",
    ...citation,
    cited_text: "cited",
    encrypted_index: "index",
  }));
  const deltas = piecesOf(words, answer.chunks).map((piece) => ({
    delta: { type: "text_delta", text: piece },
    token: true,
  }));
  return {
    start: { type: "text", text: "" },
    deltas: [
      ...deltas,
      ...citations.map((citation) => ({ delta: { type: "citations_delta", citation }, token: false })),
    ],
    whole: { type: "text", text: words, ...(citations.length > 0 ? { citations } : {}) },
  };
}

function toolUse(head: Record<string, unknown>, json: string): Block {
  const deltas = ["", ...piecesOf(json, 3)].map((partial_json) => ({
    delta: { type: "input_json_delta", partial_json },
    token: false,
  }));
  return { start: { ...head, input: {} }, deltas, whole: { ...head, input: parse(json) } };
}

function webSearch(query: string, citations: readonly { url: string; title: string }[]): Block[] {
  const id = `srvtoolu_${(answers += 1)}`;
  const content = citations.map((citation) => ({
    type: "web_search_result",
    ...citation,
    encrypted_content: "sealed",
    page_age: null,
  }));
  const result = { type: "web_search_tool_result", tool_use_id: id, content };
  return [
    toolUse({ type: "server_tool_use", id, name: "web_search" }, JSON.stringify({ query })),
    { start: result, deltas: [], whole: result },
  ];
}

function toolSearch(names: readonly string[]): Block[] {
  const id = `srvtoolu_${(answers += 1)}`;
  const tool_references = names.map((tool_name) => ({ type: "tool_reference", tool_name }));
  const content = { type: "tool_search_tool_search_result", tool_references };
  const result = { type: "tool_search_tool_result", tool_use_id: id, content };
  return [
    toolUse({ type: "server_tool_use", id, name: "tool_search_tool_bm25" }, JSON.stringify({ query: "tools" })),
    { start: result, deltas: [], whole: result },
  ];
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function stopReason(answer: AnswerOptions): string | null {
  const finish = finishOf(answer);
  if (finish === null) return null;
  const names = {
    stop: "end_turn",
    tool_calls: "tool_use",
    length: "max_tokens",
    content_filter: "refusal",
    refusal: "refusal",
    pause: "pause_turn",
  };
  return names[finish];
}

function usageOf(answer: AnswerOptions): Record<string, unknown> {
  const usage = answer.usage ?? { input: 100, output: 10 };
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_creation_input_tokens: usage.cache_write ?? 0,
    cache_read_input_tokens: usage.cache_read ?? 0,
  };
}

const BODY_KEYS = [
  "model",
  "messages",
  "system",
  "max_tokens",
  "stream",
  "temperature",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
];
const BLOCK_KEYS: Record<string, readonly string[]> = {
  text: ["type", "text", "citations", "cache_control"],
  image: ["type", "source", "cache_control"],
  tool_use: ["type", "id", "name", "input", "cache_control", "caller"],
  tool_result: ["type", "tool_use_id", "content", "is_error", "cache_control"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
  server_tool_use: ["type", "id", "name", "input", "caller"],
  web_search_tool_result: ["type", "tool_use_id", "content", "caller"],
  tool_search_tool_result: ["type", "tool_use_id", "content"],
};
/** Cache marks that the API accepts in one request. */
const CACHE_MARKS_MAX = 4;

function problems(body: Record<string, unknown>): string[] {
  const messages = listIn(body["messages"]);
  const found = [...textProblems(body), ...unknownKeys("the body", body, BODY_KEYS)];
  if (typeof body["max_tokens"] !== "number" || body["max_tokens"] < 1) found.push("max_tokens is missing");
  if (messages.length === 0) found.push("messages is empty");
  if (messages[0]?.["role"] === "assistant") found.push("the first message is not the user's");
  if (
    typeof body["system"] === "string" ? body["system"] === "" : "system" in body && listIn(body["system"]).length === 0
  ) {
    found.push("system is empty");
  }
  for (const [index, message] of messages.entries()) {
    found.push(...messageProblems(message, index));
    const same = message["role"] === messages[index - 1]?.["role"];
    if (same) found.push(`messages[${index}] has the role of the one before`);
  }
  found.push(...pairingProblems(messages), ...thinkingProblems(body, messages));
  if ((JSON.stringify(body).match(/"cache_control"/g) ?? []).length > CACHE_MARKS_MAX) {
    found.push("too many cache marks");
  }
  for (const tool of listIn(body["tools"])) found.push(...toolProblems(tool));
  return found;
}

function messageProblems(message: Record<string, unknown>, index: number): string[] {
  const where = `messages[${index}]`;
  const found = unknownKeys(where, message, ["role", "content"]);
  if (message["role"] !== "user" && message["role"] !== "assistant") {
    found.push(`${where} has the role "${String(message["role"])}"`);
  }
  if (typeof message["content"] === "string") {
    return message["content"] === "" ? [...found, `${where} is empty`] : found;
  }
  const blocks = listIn(message["content"]);
  if (blocks.length === 0) found.push(`${where} is empty`);
  for (const block of blocks) {
    const known = BLOCK_KEYS[String(block["type"])];
    if (known === undefined) found.push(`${where} has a block "${String(block["type"])}"`);
    else found.push(...unknownKeys(`${where} ${String(block["type"])}`, block, known));
    if (block["type"] === "text" && String(block["text"]).trim() === "") found.push(`${where} has an empty text block`);
    if (block["type"] === "thinking" && !block["signature"]) found.push(`${where} has thinking without a signature`);
    if (block["type"] === "tool_use" && !isRecord(block["input"])) {
      found.push(`${where} has a call whose input is not an object`);
    }
    if (block["type"] === "tool_use" && !/^[A-Za-z0-9_-]+$/.test(String(block["id"]))) {
      found.push(`${where} has a call with an illegal id`);
    }
  }
  return found;
}

/** Results stand first in the message after the calls, one for each call. */
function pairingProblems(messages: readonly Record<string, unknown>[]): string[] {
  const found: string[] = [];
  const used = new Set<unknown>();
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const blocks = listIn(message["content"]);
    const results = blocks.filter((block) => block["type"] === "tool_result");
    for (const result of results) {
      if (!open.delete(result["tool_use_id"])) found.push(`messages[${index}] has a result without a call before it`);
    }
    if (open.size > 0) found.push(`messages[${index}] lacks a result`);
    if (blocks.slice(0, results.length).some((block) => block["type"] !== "tool_result")) {
      found.push(`messages[${index}] has something before a result`);
    }
    const ids = blocks.filter((block) => block["type"] === "tool_use").map((block) => block["id"]);
    for (const id of ids) if (used.has(id)) found.push(`messages[${index}] uses the id ${String(id)} again`);
    for (const id of ids) used.add(id);
    open = new Set(ids);
  }
  if (open.size > 0) found.push("the last calls have no result");
  return found;
}

function thinkingProblems(body: Record<string, unknown>, messages: readonly Record<string, unknown>[]): string[] {
  const thinking = isRecord(body["thinking"]) ? body["thinking"] : null;
  if (thinking === null || thinking["type"] === "disabled") return [];
  const found: string[] = [];
  if (body["temperature"] !== undefined && body["temperature"] !== 1) {
    found.push("temperature must be 1 while the model thinks");
  }
  if (thinking["type"] !== "enabled") return found;
  const budget = Number(thinking["budget_tokens"]);
  if (budget < 1024) found.push("budget_tokens is below 1024");
  if (budget >= Number(body["max_tokens"])) found.push("budget_tokens is not below max_tokens");
  const last = messages.findLast((message) => message["role"] === "assistant");
  const answers_calls = listIn(messages.at(-1)?.["content"]).some((block) => block["type"] === "tool_result");
  const first = listIn(last?.["content"])[0]?.["type"];
  if (answers_calls && first !== "thinking" && first !== "redacted_thinking") {
    found.push("the answer that called the tools does not begin with its thinking");
  }
  return found;
}

function toolProblems(tool: Record<string, unknown>): string[] {
  if (typeof tool["type"] === "string" && tool["type"] !== "custom") return [];
  const found = unknownKeys("a tool", tool, [
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "defer_loading",
  ]);
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(String(tool["name"]))) found.push(`a tool is named "${String(tool["name"])}"`);
  if (!isRecord(tool["input_schema"]) || tool["input_schema"]["type"] !== "object") {
    found.push("a tool's input_schema is not an object's");
  }
  return found;
}
