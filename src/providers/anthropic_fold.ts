import type { ModelRequest, ProviderEvent } from "../contracts/provider.ts";
import { newPrefixedId } from "../lib/ids.ts";
import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { StopReason, ToolCall, Usage } from "../protocol/message.ts";
import { blocksForReplay } from "./anthropic_request.ts";
import { withFreshIds } from "./arrange.ts";
import { Citations } from "./citations.ts";
import { BROKEN_OFF } from "./failures.ts";
import { countIn, objectIn, objectsIn, textIn } from "./json_fields.ts";
import { addText } from "./model_call.ts";
import type { StreamFold } from "./model_call.ts";
import { parseJson } from "./wire_text.ts";

/** A content block as far as it has come. */
interface OpenBlock {
  block: JsonObject;
  /** JSON of a call's input, as it comes. */
  input: string;
}

const USAGE_FIELDS = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
] as const;

/** Reads events of the Messages API (Anthropic API reference, "Streaming messages"). */
export class AnthropicFold implements StreamFold {
  progress: "open" | "whole" | "over" = "open";
  #stop: string | null = null;
  #explanation: string | null = null;
  readonly #request: ModelRequest;
  readonly #counts = new Map<string, number>();
  /** By the server's index, which is dense and rising. */
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #citations = new Citations();

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  push(data: JsonObject, out: ProviderEvent[]): void {
    switch (data["type"]) {
      case "message_start":
        this.#count(objectIn(objectIn(data["message"])["usage"]));
        break;
      case "content_block_start":
        this.#start(countIn(data["index"]), objectIn(data["content_block"]), out);
        break;
      case "content_block_delta":
        this.#delta(this.#blocks.get(countIn(data["index"])), objectIn(data["delta"]), out);
        break;
      case "content_block_stop":
        this.#finish(this.#blocks.get(countIn(data["index"])), out);
        break;
      case "message_delta":
        this.#count(objectIn(data["usage"]));
        this.#stopped(objectIn(data["delta"]));
        break;
      case "message_stop":
        if (this.#stop !== null) this.progress = "over";
        break;
      default: // Pings, and events of a later version of the API.
    }
  }

  pushWhole(body: JsonObject, out: ProviderEvent[]): void {
    for (const [index, block] of objectsIn(body["content"]).entries()) {
      this.#start(index, block, out);
      if (block["type"] === "text") addText(out, "content", textIn(block["text"]) ?? "");
      if (block["type"] === "thinking") addText(out, "reasoning", textIn(block["thinking"]) ?? "");
      for (const citation of objectsIn(block["citations"])) this.#citations.add(citation);
      this.#finish(this.#blocks.get(index), out);
    }
    this.#count(objectIn(body["usage"]));
    this.#stopped(body);
  }

  end(_marked: boolean, out: ProviderEvent[]): void {
    if (this.#stop === null) {
      out.push({ type: "failed", failure: BROKEN_OFF });
      return;
    }
    const sources = this.#citations.inWords();
    if (sources !== null) out.push({ type: "info", message: sources });
    if (this.#explanation !== null) out.push({ type: "info", message: this.#explanation });
    const calls = this.#calls();
    const stop_reason = stopReason(this.#stop, calls.length > 0);
    if (stop_reason === "tool_calls") for (const call of calls) out.push({ type: "tool_call", call });
    const replayable = stop_reason === "tool_calls" || stop_reason === "stop" || stop_reason === "pause";
    const blocks = [...this.#blocks.values()].map(({ block }) => block);
    const replay = replayable ? blocksForReplay(blocks, this.#request.settings.model) : null;
    out.push({ type: "ended", stop_reason, usage: this.#usage(), ...(replay === null ? {} : { replay }) });
  }

  #start(index: number, start: JsonObject, out: ProviderEvent[]): void {
    this.#blocks.set(index, { block: { ...start }, input: "" });
    const content = start["content"];
    if (start["type"] === "web_search_tool_result") {
      const code = textIn(objectIn(content)["error_code"]);
      const message =
        code === undefined ? `[Found ${objectsIn(content).length} results]` : `[The web search failed: ${code}]`;
      out.push({ type: "info", message });
    }
    if (start["type"] === "tool_search_tool_result") {
      const names = objectsIn(objectIn(content)["tool_references"]).map(
        (reference) => textIn(reference["tool_name"]) ?? "",
      );
      out.push({ type: "expanded_tools", names: names.filter((name) => name !== "") });
    }
  }

  #delta(open: OpenBlock | undefined, delta: JsonObject, out: ProviderEvent[]): void {
    if (open === undefined) return;
    const { block } = open;
    switch (delta["type"]) {
      case "text_delta":
        addText(out, "content", append(block, "text", delta["text"]));
        break;
      case "thinking_delta":
        addText(out, "reasoning", append(block, "thinking", delta["thinking"]));
        break;
      case "signature_delta":
        append(block, "signature", delta["signature"]);
        break;
      case "input_json_delta":
        open.input += textIn(delta["partial_json"]) ?? "";
        break;
      case "citations_delta": {
        const citation = objectIn(delta["citation"]);
        block["citations"] = [...objectsIn(block["citations"]), citation];
        this.#citations.add(citation);
        break;
      }
      default: // A delta of a later version of the API.
    }
  }

  #finish(open: OpenBlock | undefined, out: ProviderEvent[]): void {
    if (open === undefined) return;
    const { block } = open;
    const parsed = parseJson(open.input);
    if (isJsonObject(parsed)) block["input"] = parsed;
    if (block["type"] === "server_tool_use" && block["name"] === "web_search") {
      const query = textIn(objectIn(block["input"])["query"]);
      if (query !== undefined) out.push({ type: "info", message: `[Searching the web: ${query}]` });
    }
  }

  #calls(): ToolCall[] {
    const calls = [...this.#blocks.values()]
      .filter(({ block }) => block["type"] === "tool_use")
      .map(({ block, input }) => ({
        id: textIn(block["id"]) ?? "",
        name: textIn(block["name"]) ?? "",
        arguments: input === "" ? JSON.stringify(objectIn(block["input"])) : input,
      }));
    return withFreshIds(calls, this.#request.messages, () => newPrefixedId("toolu"));
  }

  #stopped(delta: JsonObject): void {
    const reason = textIn(delta["stop_reason"]);
    if (reason === undefined) return;
    this.#stop = reason;
    this.#explanation = textIn(objectIn(delta["stop_details"])["explanation"]) ?? null;
    this.progress = "whole";
  }

  /** Later figures are totals and replace the earlier ones; a null says nothing. */
  #count(usage: JsonObject): void {
    for (const field of USAGE_FIELDS) if (typeof usage[field] === "number") this.#counts.set(field, usage[field]);
  }

  /** Anthropic counts cached tokens beside the others; ours include them. */
  #usage(): Usage {
    const count = (field: (typeof USAGE_FIELDS)[number]): number => this.#counts.get(field) ?? 0;
    const read = count("cache_read_input_tokens");
    const written = count("cache_creation_input_tokens");
    const prompt_tokens = count("input_tokens") + read + written;
    const completion_tokens = count("output_tokens");
    return {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      ...(read > 0 ? { cache_read_tokens: read } : {}),
      ...(written > 0 ? { cache_creation_tokens: written } : {}),
    };
  }
}

/** Adds to a text of a block and gives what was added. */
function append(block: JsonObject, field: string, addition: unknown): string {
  const text = typeof addition === "string" ? addition : "";
  block[field] = (textIn(block[field]) ?? "") + text;
  return text;
}

function stopReason(reason: string, calls: boolean): StopReason {
  switch (reason) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "refusal";
    case "pause_turn":
      return "pause";
    default:
      return calls ? "tool_calls" : "stop";
  }
}
