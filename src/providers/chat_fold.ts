import type { ModelRequest, ProviderEvent } from "../contracts/provider.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ReplayBlocks, StopReason, Usage } from "../protocol/message.ts";
import { withFreshIds } from "./arrange.ts";
import { CHAT_PROVIDER, REASONING_FIELDS } from "./chat_request.ts";
import type { ChatReplay, ReasoningField } from "./chat_request.ts";
import { Citations } from "./citations.ts";
import { BROKEN_OFF, NOT_FINISHED } from "./failures.ts";
import { ToolCallFold } from "./fold_tool_calls.ts";
import { countIn, objectIn, objectsIn, textIn } from "./json_fields.ts";
import { addText } from "./model_call.ts";
import type { StreamFold } from "./model_call.ts";
import { ThinkTags } from "./think_tags.ts";

/** Reads chunks of chat completions (OpenAI API reference, "The chat completion chunk object"). */
export class ChatFold implements StreamFold {
  #out: ProviderEvent[] = [];
  #finish: string | null = null;
  #usage: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  #reasoningField: ReasoningField | null = null;
  #refused = false;
  readonly #request: ModelRequest;
  readonly #calls = new ToolCallFold();
  readonly #citations = new Citations();
  readonly #tags = new ThinkTags({
    content: (text) => addText(this.#out, "content", text),
    reasoning: (text) => addText(this.#out, "reasoning", text),
  });

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  get progress(): "open" | "whole" {
    return this.#finish === null ? "open" : "whole";
  }

  push(data: JsonObject, out: ProviderEvent[]): void {
    this.#out = out;
    if (isJsonObject(data["usage"])) this.#usage = chatUsage(data["usage"]);
    const choice = firstOf(data["choices"]);
    if (choice === null) return;
    if (isJsonObject(choice["delta"])) this.#delta(choice["delta"]);
    if (typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "") {
      this.#finish = choice["finish_reason"];
    }
  }

  pushWhole(body: JsonObject, out: ProviderEvent[]): void {
    const choice = firstOf(body["choices"]);
    if (choice === null) return;
    this.push({ ...body, choices: [{ ...choice, delta: choice["message"] ?? {} }] }, out);
  }

  end(marked: boolean, out: ProviderEvent[]): void {
    this.#out = out;
    this.#tags.flush();
    if (this.#finish === null) {
      out.push({ type: "failed", failure: marked ? NOT_FINISHED : BROKEN_OFF });
      return;
    }
    const sources = this.#citations.inWords();
    if (sources !== null) out.push({ type: "info", message: sources });
    const stop_reason = this.#stopReason();
    if (stop_reason === "tool_calls") {
      const newCallId = (): string => newPrefixedId("call");
      for (const call of withFreshIds(this.#calls.calls(), this.#request.messages, newCallId)) {
        out.push({ type: "tool_call", call });
      }
    }
    // Only turns with calls are replayed: between calls a model goes on with its thought.
    const replay = stop_reason === "tool_calls" ? this.#replay() : null;
    out.push({ type: "ended", stop_reason, usage: this.#usage, ...(replay === null ? {} : { replay }) });
  }

  #delta(delta: JsonObject): void {
    for (const field of REASONING_FIELDS) {
      const text = delta[field];
      if (typeof text !== "string") continue;
      this.#reasoningField ??= field;
      if (text === "") continue;
      addText(this.#out, "reasoning", text);
      break; // Some servers send the same words in both fields.
    }
    const content = delta["content"];
    if (typeof content === "string") this.#tags.push(content);
    else for (const part of objectsIn(content)) this.#part(part);
    const refusal = delta["refusal"];
    if (typeof refusal === "string" && refusal !== "") {
      this.#refused = true;
      this.#tags.push(refusal);
    }
    for (const note of objectsIn(delta["annotations"])) this.#citations.add(objectIn(note["url_citation"]));
    for (const call of objectsIn(delta["tool_calls"])) this.#toolCall(call);
  }

  /** Mistral's reasoning models send lists of parts in place of text. */
  #part(part: JsonObject): void {
    if (part["type"] === "text") this.#tags.push(textIn(part["text"]) ?? "");
    for (const thought of objectsIn(part["thinking"])) addText(this.#out, "reasoning", textIn(thought["text"]) ?? "");
  }

  #toolCall(delta: JsonObject): void {
    const called = objectIn(delta["function"]);
    this.#calls.push({
      index: typeof delta["index"] === "number" ? delta["index"] : undefined,
      id: textIn(delta["id"]),
      name: textIn(called["name"]),
      arguments: isJsonObject(called["arguments"]) ? JSON.stringify(called["arguments"]) : textIn(called["arguments"]),
      extra: isJsonObject(delta["extra_content"]) ? delta["extra_content"] : undefined,
    });
  }

  /** Servers say "stop" after calls too; after anything that cut the answer short, a call may lack its end. */
  #stopReason(): StopReason {
    switch (this.#finish) {
      case "length":
        return "length";
      case "content_filter":
        return "content_filter";
      default:
        if (this.#refused) return "refusal";
        return this.#calls.calls().length > 0 ? "tool_calls" : "stop";
    }
  }

  #replay(): ReplayBlocks | null {
    const extras = this.#calls.extras();
    if (this.#reasoningField === null && extras.every((extra) => extra === null)) return null;
    const blocks: ChatReplay = { reasoning_field: this.#reasoningField, extras };
    return { provider: CHAT_PROVIDER, model: this.#request.settings.model, blocks: JSON.stringify(blocks) };
  }
}

/** Counts of chat completions; prompt tokens include what came from the cache. */
function chatUsage(usage: JsonObject): Usage {
  const details = objectIn(usage["prompt_tokens_details"]);
  const prompt_tokens = countIn(usage["prompt_tokens"]);
  const completion_tokens = countIn(usage["completion_tokens"]);
  const read = countIn(details["cached_tokens"] ?? usage["prompt_cache_hit_tokens"]);
  const written = countIn(details["cache_write_tokens"]);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: countIn(usage["total_tokens"]) || prompt_tokens + completion_tokens,
    ...(read > 0 ? { cache_read_tokens: read } : {}),
    ...(written > 0 ? { cache_creation_tokens: written } : {}),
  };
}

function firstOf(list: JsonValue | undefined): JsonObject | null {
  const first = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : null;
}
