import { argumentsTextOf, finishOf, piecesOf } from "./reply.ts";
import type { AnswerOptions } from "./reply.ts";
import { isObjectJson, isRecord, listIn, textOfContent, textProblems, unknownKeys } from "./wire.ts";
import type { Frame, Wire } from "./wire.ts";

let answers = 0;

/** OpenAI Responses. */
export const responsesWire: Wire = {
  name: "responses",
  path: "/v1/responses",
  frames,
  whole: (answer, request) =>
    responseOf(
      answer,
      request,
      itemsOf(answer).map((item) => item.whole),
    ),
  errorFrame: (error) => ({
    event: "error",
    data: JSON.stringify({ sequence_number: 0, code: null, param: null, ...error, type: "error" }),
    token: false,
  }),
  problems,
  firstUserText: (body) => textOfContent(listIn(body["input"]).find((item) => item["role"] === "user")?.["content"]),
  systemText: (body) => textOfContent(body["instructions"]),
  lastUserText: (body) => textOfContent(listIn(body["input"]).findLast((item) => item["role"] === "user")?.["content"]),
};

/** An output item: how it begins, the events in between, and what it is in the end. */
interface Item {
  start: Record<string, unknown>;
  events: { type: string; data: Record<string, unknown>; token: boolean }[];
  whole: Record<string, unknown>;
}

function frames(answer: AnswerOptions, request: Record<string, unknown>): Frame[] {
  let sequence_number = 0;
  const frame = (type: string, data: Record<string, unknown>, token = false): Frame => ({
    event: type,
    data: JSON.stringify({ type, sequence_number: sequence_number++, ...data }),
    token,
  });
  const items = itemsOf(answer);
  const begun = { ...responseOf(answer, request, []), status: "in_progress", usage: null };
  const result = [frame("response.created", { response: begun })];
  for (const [output_index, item] of items.entries()) {
    result.push(frame("response.output_item.added", { output_index, item: item.start }));
    for (const event of item.events) result.push(frame(event.type, { output_index, ...event.data }, event.token));
    result.push(frame("response.output_item.done", { output_index, item: item.whole }));
  }
  if (finishOf(answer) === null) return result;
  const response = responseOf(
    answer,
    request,
    items.map((item) => item.whole),
  );
  result.push(frame(response["status"] === "completed" ? "response.completed" : "response.incomplete", { response }));
  return result;
}

function responseOf(
  answer: AnswerOptions,
  request: Record<string, unknown>,
  output: unknown[],
): Record<string, unknown> {
  answers += 1;
  const finish = finishOf(answer);
  const reason = finish === "length" ? "max_output_tokens" : finish === "content_filter" ? "content_filter" : null;
  const usage = answer.usage ?? { input: 100, output: 10 };
  return {
    id: `resp_${answers}`,
    object: "response",
    created_at: 1_700_000_000,
    model: request["model"],
    status: reason === null ? "completed" : "incomplete",
    incomplete_details: reason === null ? null : { reason },
    error: null,
    output,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cache_read ?? 0, cache_write_tokens: usage.cache_write ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}

function itemsOf(answer: AnswerOptions): Item[] {
  const items: Item[] = [];
  if (answer.reasoning !== undefined) items.push(reasoning(answer.reasoning));
  if (answer.tool_search !== undefined) items.push(...toolSearch(answer.tool_search));
  if (answer.web_search !== undefined) items.push(webSearch(answer.web_search));
  if (answer.text !== undefined && answer.text !== "") items.push(message(answer.text, answer));
  for (const call of answer.calls ?? []) items.push(functionCall(call.name, argumentsTextOf(call), call.id));
  return items;
}

function reasoning(words: string): Item {
  const id = `rs_${(answers += 1)}`;
  const whole = {
    type: "reasoning",
    id,
    summary: [{ type: "summary_text", text: words }],
    encrypted_content: `sealed-${words.length}`,
  };
  return {
    start: { type: "reasoning", id, summary: [] },
    events: piecesOf(words, undefined).map((delta) => ({
      type: "response.reasoning_summary_text.delta",
      data: { item_id: id, summary_index: 0, delta },
      token: true,
    })),
    whole,
  };
}

function message(words: string, answer: AnswerOptions): Item {
  const id = `msg_${(answers += 1)}`;
  const refused = finishOf(answer) === "refusal";
  const annotations = (answer.citations ?? []).map((one) => ({
    type: "url_citation",
    ...one,
    start_index: 0,
    end_index: 0,
  }));
  const part = refused ? { type: "refusal", refusal: words } : { type: "output_text", text: words, annotations };
  const at = { item_id: id, content_index: 0 };
  return {
    start: { type: "message", id, role: "assistant", status: "in_progress", content: [] },
    events: [
      ...piecesOf(words, answer.chunks).map((delta) => ({
        type: refused ? "response.refusal.delta" : "response.output_text.delta",
        data: { ...at, delta },
        token: true,
      })),
      ...annotations.map((annotation, annotation_index) => ({
        type: "response.output_text.annotation.added",
        data: { ...at, annotation_index, annotation },
        token: false,
      })),
    ],
    whole: { type: "message", id, role: "assistant", status: "completed", content: [part] },
  };
}

function functionCall(name: string, json: string, known_id: string | undefined): Item {
  const id = `fc_${(answers += 1)}`;
  const head = { type: "function_call", id, call_id: known_id ?? `call_${(answers += 1)}`, name };
  return {
    start: { ...head, arguments: "", status: "in_progress" },
    events: piecesOf(json, 3).map((delta) => ({
      type: "response.function_call_arguments.delta",
      data: { item_id: id, delta },
      token: false,
    })),
    whole: { ...head, arguments: json, status: "completed" },
  };
}

function webSearch(query: string): Item {
  const id = `ws_${(answers += 1)}`;
  const whole = { type: "web_search_call", id, status: "completed", action: { type: "search", query } };
  return { start: { ...whole, status: "in_progress" }, events: [], whole };
}

function toolSearch(names: readonly string[]): Item[] {
  const call = {
    type: "tool_search_call",
    id: `ts_${(answers += 1)}`,
    call_id: null,
    execution: "server",
    status: "completed",
    arguments: {},
  };
  const tools = names.map((name) => ({ type: "function", name, defer_loading: true, parameters: {}, strict: null }));
  const output = {
    type: "tool_search_output",
    id: `to_${(answers += 1)}`,
    call_id: null,
    execution: "server",
    status: "completed",
    tools,
  };
  return [call, output].map((whole) => ({ start: whole, events: [], whole }));
}

const BODY_KEYS = [
  "model",
  "instructions",
  "input",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_output_tokens",
  "store",
  "include",
  "stream",
  "reasoning",
  "temperature",
];
const ITEM_KEYS: Record<string, readonly string[]> = {
  message: ["type", "role", "content", "id", "status"],
  function_call: ["type", "call_id", "name", "arguments", "id", "status"],
  function_call_output: ["type", "call_id", "output"],
  reasoning: ["type", "id", "summary", "encrypted_content", "content", "status"],
  web_search_call: ["type", "id", "status", "action"],
  tool_search_call: ["type", "id", "call_id", "execution", "status", "arguments"],
  tool_search_output: ["type", "id", "call_id", "execution", "status", "tools"],
};

function problems(body: Record<string, unknown>): string[] {
  const items = listIn(body["input"]);
  const found = [...textProblems(body), ...unknownKeys("the body", body, BODY_KEYS)];
  if (items.length === 0) found.push("input is empty");
  if (body["store"] !== false) found.push("store is not false");
  for (const [index, item] of items.entries()) found.push(...itemProblems(item, index, items[index + 1]));
  found.push(...pairingProblems(items));
  const tools = listIn(body["tools"]);
  for (const tool of tools) found.push(...toolProblems(tool));
  if (tools.some((tool) => tool["defer_loading"] === true) && !tools.some((tool) => tool["type"] === "tool_search")) {
    found.push("tools are deferred but nothing can find them");
  }
  return found;
}

function itemProblems(
  item: Record<string, unknown>,
  index: number,
  next: Record<string, unknown> | undefined,
): string[] {
  const where = `input[${index}]`;
  const type = typeof item["type"] === "string" ? item["type"] : "message";
  const known = ITEM_KEYS[type];
  if (known === undefined) return [`${where} has the type "${type}"`];
  const found = unknownKeys(where, item, known);
  if (type === "message") {
    if (item["role"] !== "user" && item["role"] !== "assistant") {
      found.push(`${where} has the role "${String(item["role"])}"`);
    }
    if (
      textOfContent(item["content"]) === "" &&
      !listIn(item["content"]).some((part) => part["type"] !== "input_text")
    ) {
      found.push(`${where} is empty`);
    }
    const wanted = item["role"] === "user" ? /^input_/ : /^(output_text|refusal)$/;
    for (const part of listIn(item["content"])) {
      if (!wanted.test(String(part["type"]))) found.push(`${where} has a part "${String(part["type"])}"`);
    }
  }
  if (type === "function_call" && !isObjectJson(item["arguments"])) {
    found.push(`${where} has arguments that are not a JSON object`);
  }
  if (
    type === "reasoning" &&
    (next === undefined || next["role"] === "user" || next["type"] === "function_call_output")
  ) {
    found.push(`${where} is reasoning without the item that follows from it`);
  }
  if (type === "reasoning" && !item["encrypted_content"]) found.push(`${where} is reasoning without its content`);
  return found;
}

function pairingProblems(items: readonly Record<string, unknown>[]): string[] {
  const found: string[] = [];
  const used = new Set<unknown>();
  const open = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    if (item["type"] === "function_call") {
      if (used.has(item["call_id"])) found.push(`input[${index}] uses the id ${String(item["call_id"])} again`);
      if (String(item["call_id"]).length > 64) found.push(`input[${index}] has an id of more than 64 characters`);
      used.add(item["call_id"]);
      open.add(item["call_id"]);
    }
    if (item["type"] === "function_call_output" && !open.delete(item["call_id"])) {
      found.push(`input[${index}] is a result without a call`);
    }
  }
  if (open.size > 0) found.push("a call has no result");
  return found;
}

function toolProblems(tool: Record<string, unknown>): string[] {
  if (tool["type"] !== "function") return [];
  const found = unknownKeys("a tool", tool, ["type", "name", "description", "parameters", "strict", "defer_loading"]);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(tool["name"]))) found.push(`a tool is named "${String(tool["name"])}"`);
  if (!isRecord(tool["parameters"])) found.push("a tool has no parameters");
  return found;
}
