import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { AssistantMessage, ContentPart, ImagePart, ToolMessage, UserMessage } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { RESULT_EMPTY, RESULT_MISSING, arrange } from "./arrange.ts";
import type { AssistantTurn } from "./arrange.ts";
import { effortOf, temperatureOf } from "./effort.ts";
import { EncodedByModel, EncodedTools, withoutWebSearch } from "./encoded.ts";
import type { EncodedMessages } from "./encoded.ts";
import { objectIn } from "./json_fields.ts";
import { imagesOf, pictureFor } from "./pictures.ts";
import { argumentsText, cleanText, fileInWords, parseJson, pictureInWords, wireCallId } from "./wire_text.ts";

/** Name under which this wire format keeps blocks for replay. */
export const CHAT_PROVIDER = "openai-compatible";

/** Fields in which servers send reasoning, and take it back in. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;
export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** What is kept of an answer so that its model gets back what it wants. */
export interface ChatReplay {
  reasoning_field: ReasoningField | null;
  /** `extra_content` of each call. */
  extras: (JsonObject | null)[];
}

const encodedMessages = new EncodedByModel();
const encodedTools = new EncodedTools();

/** Body of `POST /chat/completions`. Pictures must have been loaded. */
export function chatBody(request: ModelRequest): string {
  // One join for all: a conversation may be a megabyte, and each further join would copy it.
  const messages = messagesJson(request);
  const first = messages[0] ?? "";
  messages[0] = `{"model":${JSON.stringify(request.settings.model)},"messages":[${first}`;
  return `${messages.join(",")}],${parameters(request).join(",")}}`;
}

function parameters(request: ModelRequest): string[] {
  const { settings } = request;
  const { capabilities } = settings;
  const members = [
    `"stream":true,"stream_options":{"include_usage":true}`,
    `"${capabilities.token_param}":${request.max_output_tokens}`,
  ];
  const tools = toolsJson(request);
  if (tools !== "") members.push(`"tools":[${tools}]`);
  if (tools !== "" && capabilities.supports_parallel_tools) members.push(`"parallel_tool_calls":true`);
  if (request.native_web_search) members.push(`"web_search_options":{}`);
  const effort = effortOf(settings);
  if (effort !== null) members.push(`"reasoning_effort":${JSON.stringify(effort)}`);
  const temperature = temperatureOf(settings);
  if (temperature !== null) members.push(`"temperature":${temperature}`);
  return members;
}

function messagesJson(request: ModelRequest): string[] {
  const encoder = new MessageEncoder(request.settings);
  const sees = request.settings.capabilities.supports_vision;
  const parts: string[] = [];
  if (request.system !== "") parts.push(`{"role":"system","content":${JSON.stringify(cleanText(request.system))}}`);
  let shown: ImagePart[] = [];
  const flushShown = (): void => {
    if (shown.length > 0) parts.push(encoder.user([], shown));
    shown = [];
  };
  for (const turn of arrange(request.messages)) {
    if (turn.kind === "user") {
      parts.push(encoder.user(turn.messages, shown));
      shown = [];
    } else {
      flushShown();
      encoder.answer(turn, parts);
      shown = sees ? turn.results.flatMap((result) => (result === null ? [] : imagesOf(result))) : [];
    }
  }
  flushShown();
  return parts;
}

/** Writes messages for one model. */
class MessageEncoder {
  readonly #settings: ModelSettings;
  readonly #known: EncodedMessages;
  readonly #wantsReasoning: boolean;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#wantsReasoning = /deepseek/i.test(`${settings.model} ${settings.base_url}`);
    this.#known = encodedMessages.for(settings);
  }

  /** People's words as one message; pictures that tools showed come first, since a tool's message cannot hold them. */
  user(messages: readonly UserMessage[], shown: readonly ImagePart[]): string {
    const [first] = messages;
    if (messages.length === 1 && shown.length === 0 && first !== undefined) {
      return this.#known.get(first, () => this.#userContent(first.content));
    }
    return this.#userContent([...this.#introduced(shown), ...messages.flatMap((message) => message.content)]);
  }

  /** An answer and its results. */
  answer(turn: AssistantTurn, parts: string[]): void {
    parts.push(this.#known.get(turn.message, () => this.#assistant(turn.message)));
    for (const [index, call] of turn.message.tool_calls.entries()) {
      const result = turn.results[index] ?? null;
      parts.push(
        result === null ? toolMessage(call.id, RESULT_MISSING) : this.#known.get(result, () => this.#result(result)),
      );
    }
  }

  #introduced(shown: readonly ImagePart[]): ContentPart[] {
    return shown.length === 0 ? [] : [{ type: "text", text: "[Pictures from the tool results above]" }, ...shown];
  }

  /** Text alone goes as a string: not every server takes lists of parts. */
  #userContent(content: readonly ContentPart[]): string {
    const parts = content
      .map((part) => this.#userPart(part))
      .filter((part) => part.type !== "text" || part.text !== "");
    const onlyText = parts.every((part) => part.type === "text");
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
    return JSON.stringify({ role: "user", content: onlyText ? text || "(empty message)" : parts });
  }

  #userPart(part: ContentPart): { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } } {
    if (part.type === "text") return { type: "text", text: cleanText(part.text) };
    if (part.type === "file") return { type: "text", text: fileInWords(part) };
    const picture = pictureFor(part, this.#settings);
    if (!picture.ok) return { type: "text", text: pictureInWords(part, picture.why) };
    return { type: "image_url", image_url: { url: `data:${part.media_type};base64,${picture.base64}` } };
  }

  #assistant(message: AssistantMessage): string {
    const replay = replayOf(message, this.#settings.model);
    const calls = message.tool_calls.map((call, index) => ({
      id: wireCallId(call.id),
      type: "function",
      function: { name: call.name, arguments: argumentsText(call) },
      ...(replay?.extras[index] ? { extra_content: replay.extras[index] } : {}),
    }));
    const content = cleanText(message.content);
    return JSON.stringify({
      role: "assistant",
      // Absent rather than empty: some servers refuse "" and others null.
      ...(content === "" && calls.length > 0 ? {} : { content: content || "(no answer)" }),
      ...(calls.length > 0 ? { tool_calls: calls, ...this.#reasoning(message, replay) } : {}),
    });
  }

  /** Servers that think between calls refuse, or forget, a turn whose reasoning does not come back. */
  #reasoning(message: AssistantMessage, replay: ChatReplay | null): Record<string, string> {
    const field = replay?.reasoning_field ?? (this.#wantsReasoning ? "reasoning_content" : null);
    return field === null ? {} : { [field]: cleanText(message.reasoning ?? "") };
  }

  #result(message: ToolMessage): string {
    const words = message.content.map((part) => {
      if (part.type === "text") return cleanText(part.text);
      if (part.type === "file") return fileInWords(part);
      const seen = this.#settings.capabilities.supports_vision;
      return pictureInWords(part, seen ? "shown in the next message" : "this model cannot see pictures");
    });
    return toolMessage(message.call_id, words.join("\n") || RESULT_EMPTY);
  }
}

function toolMessage(call_id: string, content: string): string {
  return JSON.stringify({ role: "tool", tool_call_id: wireCallId(call_id), content });
}

/** What the same model wants back of this message. */
function replayOf(message: AssistantMessage, model: string): ChatReplay | null {
  const { replay } = message;
  if (replay === undefined || replay.provider !== CHAT_PROVIDER || replay.model !== model) return null;
  const blocks = objectIn(parseJson(replay.blocks));
  const extras = Array.isArray(blocks["extras"]) ? blocks["extras"] : [];
  return {
    reasoning_field: REASONING_FIELDS.find((field) => field === blocks["reasoning_field"]) ?? null,
    // Fewer calls than were kept would shift what belongs to whom.
    extras:
      extras.length === message.tool_calls.length ? extras.map((extra) => (isJsonObject(extra) ? extra : null)) : [],
  };
}

function toolsJson(request: ModelRequest): string {
  const listed = (tools: readonly ModelTool[]): readonly ModelTool[] =>
    request.native_web_search ? withoutWebSearch(tools) : tools;
  const visible = encodedTools.get(listed(request.tools), "visible", functionTool);
  const deferred = encodedTools.get(listed(request.deferred_tools), "deferred", (tool) => ({
    ...functionTool(tool),
    defer_loading: true,
  }));
  return [visible, deferred].filter((json) => json !== "").join(",");
}

function functionTool({ name, description, parameters }: ModelTool): Record<string, unknown> {
  return { type: "function", function: { name, description: cleanText(description), parameters } };
}
