import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { AssistantMessage, ContentPart, ReplayBlocks, ToolMessage, UserMessage } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { RESULT_EMPTY, RESULT_MISSING, arrange } from "./arrange.ts";
import type { AssistantTurn } from "./arrange.ts";
import { effortOf, temperatureOf } from "./effort.ts";
import { EncodedByModel, EncodedTools, withoutWebSearch } from "./encoded.ts";
import type { EncodedMessages } from "./encoded.ts";
import { pictureFor } from "./pictures.ts";
import { replayBlocks } from "./replay.ts";
import { argumentsText, cleanText, fileInWords, pictureInWords, wireCallId } from "./wire_text.ts";

/** Name under which this wire format keeps output items for replay. */
export const RESPONSES_PROVIDER = "openai";

const encodedMessages = new EncodedByModel();
const encodedTools = new EncodedTools();

/** Body of `POST /responses`. Pictures must have been loaded. The server keeps nothing, so all it needs goes along. */
export function responsesBody(request: ModelRequest): string {
  const encoder = new ItemEncoder(request.settings);
  const items: string[] = [];
  for (const turn of arrange(request.messages)) {
    if (turn.kind === "user") items.push(...turn.messages.map((message) => encoder.user(message)));
    else encoder.answer(turn, items);
  }
  // One join for all: a conversation may be a megabyte, and each further join would copy it.
  items[0] = `{"model":${JSON.stringify(request.settings.model)},"input":[${items[0] ?? ""}`;
  return `${items.join(",")}],${parameters(request).join(",")}}`;
}

function parameters(request: ModelRequest): string[] {
  const { settings } = request;
  const { capabilities } = settings;
  const members = [`"stream":true,"store":false,"max_output_tokens":${request.max_output_tokens}`];
  if (request.system !== "") members.push(`"instructions":${JSON.stringify(cleanText(request.system))}`);
  const tools = toolsJson(request);
  if (tools !== "") members.push(`"tools":[${tools}]`);
  if (tools !== "" && capabilities.supports_parallel_tools) members.push(`"parallel_tool_calls":true`);
  // Models that cannot reason refuse to be asked for their reasoning.
  if (capabilities.effort_levels.length > 0) members.push(`"include":["reasoning.encrypted_content"]`);
  const effort = effortOf(settings);
  // OpenAI's web search refuses the least effort.
  const allowed = effort === "minimal" && request.native_web_search ? "low" : effort;
  if (allowed !== null) members.push(`"reasoning":${JSON.stringify({ effort: allowed })}`);
  const temperature = temperatureOf(settings);
  if (temperature !== null) members.push(`"temperature":${temperature}`);
  return members;
}

/** Writes input items for one model. */
class ItemEncoder {
  readonly #known: EncodedMessages;
  readonly #settings: ModelSettings;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#known = encodedMessages.for(settings);
  }

  user(message: UserMessage): string {
    return this.#known.get(message, () => {
      const parts = this.#parts(message.content);
      const content = parts.length > 0 ? parts : [{ type: "input_text", text: "(empty message)" }];
      return JSON.stringify({ role: "user", content });
    });
  }

  answer(turn: AssistantTurn, items: string[]): void {
    items.push(this.#known.get(turn.message, () => this.#assistant(turn.message)));
    for (const [index, call] of turn.message.tool_calls.entries()) {
      const result = turn.results[index] ?? null;
      items.push(
        result === null ? outputItem(call.id, RESULT_MISSING) : this.#known.get(result, () => this.#result(result)),
      );
    }
  }

  #parts(content: readonly ContentPart[]): JsonObject[] {
    return content.map((part) => this.#part(part)).filter((part) => part["text"] !== "");
  }

  #part(part: ContentPart): JsonObject {
    if (part.type === "text") return { type: "input_text", text: cleanText(part.text) };
    if (part.type === "file") return { type: "input_text", text: fileInWords(part) };
    const picture = pictureFor(part, this.#settings);
    if (!picture.ok) return { type: "input_text", text: pictureInWords(part, picture.why) };
    return { type: "input_image", image_url: `data:${part.media_type};base64,${picture.base64}`, detail: "auto" };
  }

  #assistant(message: AssistantMessage): string {
    const replayed = replayBlocks(message, RESPONSES_PROVIDER, this.#settings.model, "function_call", (item, call) => ({
      ...item,
      call_id: wireCallId(call.id),
      arguments: argumentsText(call),
    }));
    return (replayed ?? plainItems(message)).map((item) => JSON.stringify(item)).join(",");
  }

  #result(message: ToolMessage): string {
    if (message.content.every((part) => part.type === "text")) {
      const text = message.content.map((part) => cleanText(part.text)).join("\n");
      return outputItem(message.call_id, text || RESULT_EMPTY);
    }
    return outputItem(message.call_id, this.#parts(message.content));
  }
}

function outputItem(call_id: string, output: string | JsonObject[]): string {
  return JSON.stringify({ type: "function_call_output", call_id: wireCallId(call_id), output });
}

/** An answer of another model, or one whose items were not kept. */
function plainItems(message: AssistantMessage): JsonObject[] {
  const calls = message.tool_calls.map((call) => ({
    type: "function_call",
    call_id: wireCallId(call.id),
    name: call.name,
    arguments: argumentsText(call),
  }));
  const content = cleanText(message.content);
  if (content.trim() === "" && calls.length > 0) return calls;
  return [{ role: "assistant", content: content.trim() === "" ? "(no answer)" : content }, ...calls];
}

/** The output items of an answer as blocks for replay; reasoning that nothing followed from would be refused. */
export function itemsForReplay(items: readonly JsonObject[], model: string): ReplayBlocks | null {
  const last = items.findLastIndex((item) => item["type"] !== "reasoning");
  const kept = items.slice(0, last + 1);
  const needed = kept.some((item) => item["type"] !== "message" || item["phase"] !== undefined);
  return needed ? { provider: RESPONSES_PROVIDER, model, blocks: JSON.stringify(kept) } : null;
}

function toolsJson(request: ModelRequest): string {
  const listed = (tools: readonly ModelTool[]): readonly ModelTool[] =>
    request.native_web_search ? withoutWebSearch(tools) : tools;
  const visible = encodedTools.get(listed(request.tools), "visible", functionTool);
  const deferred = encodedTools.get(listed(request.deferred_tools), "deferred", (tool) => ({
    ...functionTool(tool),
    defer_loading: true,
  }));
  const hosted = [
    ...(deferred === "" ? [] : [`{"type":"tool_search"}`]),
    ...(request.native_web_search ? [`{"type":"web_search"}`] : []),
  ];
  return [visible, deferred, ...hosted].filter((json) => json !== "").join(",");
}

/** Not strict: strict schemas must list every property as required, which tools with options do not. */
function functionTool({ name, description, parameters }: ModelTool): JsonObject {
  return { type: "function", name, description: cleanText(description), parameters, strict: false };
}
