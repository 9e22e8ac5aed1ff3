import type { ModelRequest, ProviderEvent } from "../contracts/provider.ts";
import { newPrefixedId } from "../lib/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { StopReason, ToolCall, Usage } from "../protocol/message.ts";
import { withFreshIds } from "./arrange.ts";
import { Citations } from "./citations.ts";
import { BROKEN_OFF, NOT_FINISHED, failureFromServer } from "./failures.ts";
import { countIn, objectIn, objectsIn, textIn } from "./json_fields.ts";
import { addText } from "./model_call.ts";
import type { StreamFold } from "./model_call.ts";
import { itemsForReplay } from "./responses_request.ts";

/** Reads events of the Responses API (OpenAI API reference, "Streaming events"). */
export class ResponsesFold implements StreamFold {
  progress: "open" | "over" = "open";
  #response: JsonObject | null = null;
  #summaries = 0;
  #refused = false;
  readonly #request: ModelRequest;
  readonly #items: JsonObject[] = [];
  readonly #citations = new Citations();

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  push(data: JsonObject, out: ProviderEvent[]): void {
    switch (data["type"]) {
      case "response.output_text.delta":
        addText(out, "content", textIn(data["delta"]) ?? "");
        break;
      case "response.refusal.delta":
        this.#refused = true;
        addText(out, "content", textIn(data["delta"]) ?? "");
        break;
      case "response.reasoning_summary_part.added":
        if (this.#summaries > 0) addText(out, "reasoning", "\n\n");
        this.#summaries += 1;
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        addText(out, "reasoning", textIn(data["delta"]) ?? "");
        break;
      case "response.output_text.annotation.added":
        this.#citations.add(objectIn(data["annotation"]));
        break;
      case "response.output_item.done":
        this.#item(objectIn(data["item"]), out);
        break;
      case "response.completed":
      case "response.incomplete":
        this.#response = objectIn(data["response"]);
        this.progress = "over";
        break;
      case "response.failed":
        this.#fail(objectIn(objectIn(data["response"])["error"]), out);
        break;
      case "error":
        this.#fail(data, out);
        break;
      default: // Beginnings and ends of parts say nothing that the events above do not.
    }
  }

  pushWhole(body: JsonObject, out: ProviderEvent[]): void {
    for (const item of objectsIn(body["output"])) {
      for (const part of objectsIn(item["content"])) {
        if (item["type"] !== "message") break;
        if (part["type"] === "refusal") this.#refused = true;
        addText(out, "content", textIn(part["text"]) ?? textIn(part["refusal"]) ?? "");
        for (const annotation of objectsIn(part["annotations"])) this.#citations.add(annotation);
      }
      for (const part of objectsIn(item["summary"])) addText(out, "reasoning", textIn(part["text"]) ?? "");
      this.#item(item, out);
    }
    if (textIn(body["status"]) !== undefined) this.#response = body;
  }

  end(marked: boolean, out: ProviderEvent[]): void {
    const response = this.#response;
    if (response === null) {
      out.push({ type: "failed", failure: marked ? NOT_FINISHED : BROKEN_OFF });
      return;
    }
    const sources = this.#citations.inWords();
    if (sources !== null) out.push({ type: "info", message: sources });
    const calls = this.#calls();
    const stop_reason = this.#stopReason(response, calls);
    if (stop_reason === "tool_calls") for (const call of calls) out.push({ type: "tool_call", call });
    // An answer that was cut short may end in a call that is not given out, or in reasoning that led nowhere.
    const whole = stop_reason === "tool_calls" || stop_reason === "stop";
    const replay = whole ? itemsForReplay(this.#items, this.#request.settings.model) : null;
    const usage = responsesUsage(objectIn(response["usage"]));
    out.push({ type: "ended", stop_reason, usage, ...(replay === null ? {} : { replay }) });
  }

  #item(item: JsonObject, out: ProviderEvent[]): void {
    this.#items.push(item);
    if (item["type"] === "web_search_call") {
      const query = textIn(objectIn(item["action"])["query"]);
      if (query !== undefined) out.push({ type: "info", message: `[Searching the web: ${query}]` });
    }
    if (item["type"] === "tool_search_output") {
      const names = objectsIn(item["tools"]).map((tool) => textIn(tool["name"]) ?? "");
      out.push({ type: "expanded_tools", names: names.filter((name) => name !== "") });
    }
  }

  #calls(): ToolCall[] {
    const calls = this.#items
      .filter((item) => item["type"] === "function_call")
      .map((item) => ({
        id: textIn(item["call_id"]) ?? "",
        name: textIn(item["name"]) ?? "",
        arguments: textIn(item["arguments"]) ?? "",
      }));
    return withFreshIds(calls, this.#request.messages, () => newPrefixedId("call"));
  }

  #stopReason(response: JsonObject, calls: readonly ToolCall[]): StopReason {
    if (response["status"] === "incomplete") {
      const reason = objectIn(response["incomplete_details"])["reason"];
      return reason === "content_filter" ? "content_filter" : "length";
    }
    if (this.#refused) return "refusal";
    return calls.length > 0 ? "tool_calls" : "stop";
  }

  #fail(error: JsonObject, out: ProviderEvent[]): void {
    const body = { message: error["message"] ?? "no message", type: error["code"] ?? null };
    out.push({ type: "failed", failure: failureFromServer({ body, api_key: this.#request.settings.api_key }) });
  }
}

function responsesUsage(usage: JsonObject): Usage {
  const details = objectIn(usage["input_tokens_details"]);
  const prompt_tokens = countIn(usage["input_tokens"]);
  const completion_tokens = countIn(usage["output_tokens"]);
  const read = countIn(details["cached_tokens"]);
  const written = countIn(details["cache_write_tokens"]);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(read > 0 ? { cache_read_tokens: read } : {}),
    ...(written > 0 ? { cache_creation_tokens: written } : {}),
  };
}
