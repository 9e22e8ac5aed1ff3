import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { AssistantMessage, ContentPart, ReplayBlocks, ToolMessage, UserMessage } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { RESULT_EMPTY, RESULT_MISSING, arrange } from "./arrange.ts";
import type { AssistantTurn, Turn } from "./arrange.ts";
import { effortOf, temperatureOf } from "./effort.ts";
import { EncodedByModel, EncodedTools, withoutWebSearch } from "./encoded.ts";
import type { EncodedMessages } from "./encoded.ts";
import { textIn } from "./json_fields.ts";
import { pictureFor } from "./pictures.ts";
import { replayBlocks } from "./replay.ts";
import { argumentsObject, cleanText, fileInWords, pictureInWords, wireCallId } from "./wire_text.ts";

/** Name under which this wire format keeps content blocks for replay. */
export const ANTHROPIC_PROVIDER = "anthropic";

/** Tokens to think within, by effort, for models that take a budget. The API wants at least the first. */
const BUDGETS: Readonly<Record<string, number>> = { low: 1024, medium: 4096, high: 16_384, xhigh: 32_768, max: 32_768 };
const BUDGET_MIN = 1024;

/** Below this a thinking model would spend the answer's tokens on thinking: titles and the like go without. */
const THINKING_TOKENS_MIN = 2048;

/** Searches of the web that one answer may make. */
const WEB_SEARCHES_MAX = 8;

const CACHE_MARK = `"cache_control":{"type":"ephemeral"}`;

const encodedMessages = new EncodedByModel();
const encodedTools = new EncodedTools();

/** A message on the wire: blocks that are joined when all are there. */
interface WireMessage {
  role: "user" | "assistant";
  blocks: string[];
}

/** Body of `POST /v1/messages`. Pictures must have been loaded. */
export function anthropicBody(request: ModelRequest): string {
  const turns = arrange(request.messages);
  const pieces = [`{"model":${JSON.stringify(request.settings.model)},"messages":[`];
  let between = "";
  for (const { role, blocks } of wireMessages(turns, request.settings)) {
    pieces.push(`${between}{"role":"${role}","content":[`, blocks[0] ?? "");
    for (let index = 1; index < blocks.length; index += 1) pieces.push(",", blocks[index] ?? "");
    between = "]},";
  }
  pieces.push(between === "" ? "]," : "]}],", parameters(request, turns).join(","), "}");
  // One join for all: a conversation may be a megabyte, and each further join would copy it.
  return pieces.join("");
}

function parameters(request: ModelRequest, turns: readonly Turn[]): string[] {
  const members = [`"stream":true,"max_tokens":${request.max_output_tokens}`];
  if (request.system !== "") {
    // What stands before the mark is cached: the tools too, which the API reads before the system text.
    members.push(`"system":[{"type":"text","text":${JSON.stringify(cleanText(request.system))},${CACHE_MARK}}]`);
  }
  const tools = toolsJson(request);
  if (tools !== "") members.push(`"tools":[${tools}]`);
  const thinking = thinkingOf(request, turns);
  if (thinking !== null) members.push(`"thinking":${JSON.stringify(thinking)}`);
  const effort = request.settings.capabilities.thinking_mode === "adaptive" ? effortOf(request.settings) : null;
  if (effort !== null && effort !== "none") members.push(`"output_config":${JSON.stringify({ effort })}`);
  const temperature = temperatureOf(request.settings);
  if (temperature !== null && (thinking === null || thinking["type"] === "disabled")) {
    members.push(`"temperature":${Math.min(1, temperature)}`);
  }
  return members;
}

/** How the model is told to think; null when it is told nothing. */
function thinkingOf(request: ModelRequest, turns: readonly Turn[]): JsonObject | null {
  const { capabilities, effort } = request.settings;
  if (capabilities.thinking_mode === "none") return null;
  if (capabilities.thinking_mode === "adaptive") {
    if (effort === "none" && capabilities.effort_levels.includes("none")) return { type: "disabled" };
    return request.max_output_tokens < THINKING_TOKENS_MIN ? null : { type: "adaptive", display: "summarized" };
  }
  const wanted = BUDGETS[effortOf(request.settings) ?? "none"];
  if (wanted === undefined || callsWithoutThinking(turns, request.settings)) return null;
  const budget_tokens = Math.min(wanted, request.max_output_tokens - BUDGET_MIN);
  return budget_tokens < BUDGET_MIN ? null : { type: "enabled", budget_tokens };
}

/** With a budget set, the API refuses results of calls whose answer did not begin with thinking, as others' do not. */
function callsWithoutThinking(turns: readonly Turn[], settings: ModelSettings): boolean {
  const last = turns.findLast((turn) => turn.kind === "assistant");
  if (last === undefined || last.results.length === 0) return false;
  const first = replayed(last.message, settings)?.[0];
  return first === undefined || !isThinking(first);
}

function wireMessages(turns: readonly Turn[], settings: ModelSettings): WireMessage[] {
  const encoder = new BlockEncoder(settings);
  const messages: WireMessage[] = [];
  const add = (role: WireMessage["role"], blocks: string): void => {
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(blocks);
    else messages.push({ role, blocks: [blocks] });
  };
  for (const turn of turns) {
    if (turn.kind === "user") {
      for (const message of turn.messages) add("user", encoder.user(message));
    } else {
      add("assistant", encoder.assistant(turn.message));
      for (const result of encoder.results(turn)) add("user", result);
    }
  }
  const last = turns.at(-1);
  // A pause is continued by sending it back as it is; anything else must end with the user.
  if (last?.kind === "assistant" && last.results.length === 0 && replayed(last.message, settings) === null) {
    add("user", textBlock("Go on."));
  }
  markForCache(messages);
  return messages;
}

/** Marks the ends of the last two messages from the user: the earlier one is what the last request had cached. */
function markForCache(messages: readonly WireMessage[]): void {
  const marked = messages.filter((message) => message.role === "user").slice(-2);
  for (const { blocks } of marked) {
    const last = blocks.length - 1;
    blocks[last] = `${blocks[last]?.slice(0, -1) ?? ""},${CACHE_MARK}}`;
  }
}

/** Writes content blocks for one model; blocks of one message are joined by commas. */
class BlockEncoder {
  readonly #known: EncodedMessages;
  readonly #settings: ModelSettings;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#known = encodedMessages.for(settings);
  }

  user(message: UserMessage): string {
    return this.#known.get(message, () => joined(this.#blocks(message.content)) || textBlock("(empty message)"));
  }

  assistant(message: AssistantMessage): string {
    return this.#known.get(message, () => joined(replayed(message, this.#settings) ?? plainBlocks(message)));
  }

  results({ message, results }: AssistantTurn): string[] {
    return message.tool_calls.map((call, index) => {
      const result = results[index] ?? null;
      if (result === null) return resultBlock(call.id, RESULT_MISSING, true);
      return this.#known.get(result, () => this.#result(result));
    });
  }

  #result(message: ToolMessage): string {
    const blocks = this.#blocks(message.content);
    return resultBlock(message.call_id, blocks.length > 0 ? blocks : RESULT_EMPTY, message.is_error);
  }

  /** The API refuses text of white space alone. */
  #blocks(content: readonly ContentPart[]): JsonObject[] {
    return content.map((part) => this.#block(part)).filter((block) => !isBlank(block));
  }

  #block(part: ContentPart): JsonObject {
    if (part.type === "text") return { type: "text", text: cleanText(part.text) };
    if (part.type === "file") return { type: "text", text: fileInWords(part) };
    const picture = pictureFor(part, this.#settings);
    if (!picture.ok) return { type: "text", text: pictureInWords(part, picture.why) };
    return { type: "image", source: { type: "base64", media_type: part.media_type, data: picture.base64 } };
  }
}

function joined(blocks: readonly JsonObject[]): string {
  return blocks.map((block) => JSON.stringify(block)).join(",");
}

function textBlock(text: string): string {
  return JSON.stringify({ type: "text", text });
}

function resultBlock(call_id: string, content: string | JsonObject[], is_error: boolean): string {
  return JSON.stringify({
    type: "tool_result",
    tool_use_id: wireCallId(call_id),
    content,
    ...(is_error ? { is_error } : {}),
  });
}

function replayed(message: AssistantMessage, settings: ModelSettings): JsonObject[] | null {
  return replayBlocks(message, ANTHROPIC_PROVIDER, settings.model, "tool_use", (block, call) => ({
    ...block,
    id: wireCallId(call.id),
    input: argumentsObject(call),
  }));
}

/** An answer of another model, or one whose blocks were not kept. */
function plainBlocks(message: AssistantMessage): JsonObject[] {
  const calls = message.tool_calls.map((call) => ({
    type: "tool_use",
    id: wireCallId(call.id),
    name: call.name,
    input: argumentsObject(call),
  }));
  const text = cleanText(message.content);
  if (text.trim() !== "") return [{ type: "text", text: text.trimEnd() }, ...calls];
  return calls.length > 0 ? calls : [{ type: "text", text: "(no answer)" }];
}

/** The blocks of an answer for replay; null when text alone says as much, or when thinking is all there is. */
export function blocksForReplay(blocks: readonly JsonObject[], model: string): ReplayBlocks | null {
  const kept = blocks.filter((block) => !isBlank(block));
  if (kept.every(isThinking) || kept.every((block) => block["type"] === "text" || block["type"] === "tool_use")) {
    return null;
  }
  return { provider: ANTHROPIC_PROVIDER, model, blocks: JSON.stringify(kept) };
}

function isThinking(block: JsonObject): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

function isBlank(block: JsonObject): boolean {
  return block["type"] === "text" && (textIn(block["text"]) ?? "").trim() === "";
}

function toolsJson(request: ModelRequest): string {
  const listed = (tools: readonly ModelTool[]): readonly ModelTool[] =>
    request.native_web_search ? withoutWebSearch(tools) : tools;
  const visible = encodedTools.get(listed(request.tools), "visible", anthropicTool);
  const deferred = encodedTools.get(listed(request.deferred_tools), "deferred", (tool) => ({
    ...anthropicTool(tool),
    defer_loading: true,
  }));
  const hosted = [
    ...(deferred === ""
      ? []
      : [JSON.stringify({ type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" })]),
    ...(request.native_web_search
      ? [JSON.stringify({ type: "web_search_20250305", name: "web_search", max_uses: WEB_SEARCHES_MAX })]
      : []),
  ];
  return [visible, deferred, ...hosted].filter((json) => json !== "").join(",");
}

function anthropicTool({ name, description, parameters }: ModelTool): JsonObject {
  return { name, description: cleanText(description), input_schema: parameters };
}
