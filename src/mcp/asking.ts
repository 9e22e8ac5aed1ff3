import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import type { ToolContext } from "../contracts/tool.ts";
import type { Log } from "../lib/log.ts";
import { visible } from "../lib/visible.ts";
import type { McpRequest, McpSamplingMessage } from "../protocol/mcp_request.ts";
import { readForm } from "./form.ts";
import type { RequiredPage } from "./outcome.ts";
import type { Patience } from "./patience.ts";

/** What people read before they answer; what does not fit could not be judged. */
const MESSAGE_LENGTH_MAX = 2000;
const SAMPLING_LENGTH_MAX = 50_000;
const OUTPUT_TOKENS_MAX = 16_384;

/** Nobody opens more in a row. */
const PAGES_MAX = 5;

/** JSON-RPC: invalid params, and the code that MCP's sampling page uses for a person's refusal. */
const INVALID_PARAMS = -32_602;
const REFUSED_BY_PERSON = -1;

/** A refusal that a server gets as a JSON-RPC error. */
export class AskingRefused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = "AskingRefused";
    this.code = code;
  }
}

interface Call {
  context: ToolContext;
  patience: Patience;
}

/**
 * The calls that run at one server, and what it asks people meanwhile. MCP does not say for which call a server asks;
 * so it is heard only while all its calls belong to one conversation: nothing is asked in a room that it is not for.
 */
export class Asking {
  readonly #server: string;
  readonly #redact: (text: string) => string;
  readonly #log: Log;
  readonly #calls = new Set<Call>();

  constructor(server: string, redact: (text: string) => string, log: Log) {
    this.#server = server;
    this.#redact = redact;
    this.#log = log;
  }

  async whileCalling<T>(context: ToolContext, patience: Patience, work: () => Promise<T>): Promise<T> {
    const call = { context, patience };
    this.#calls.add(call);
    try {
      return await work();
    } finally {
      this.#calls.delete(call);
    }
  }

  async elicit(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult> {
    const call = this.#caller();
    if (call === null) return { action: "cancel" };
    const request = params.mode === "url" ? this.#link(params.message, params.url) : this.#form(params);
    const { action, content } = await this.#ask(call, request, signal);
    if (action !== "accept" || request.kind !== "form") return { action };
    return { action, content: content as NonNullable<ElicitResult["content"]> };
  }

  /** Asks for pages that a server wants dealt with before a call; answers whether people agreed to all of them. */
  async openPages(pages: readonly RequiredPage[], signal: AbortSignal): Promise<boolean> {
    for (const { message, url } of pages.slice(0, PAGES_MAX)) {
      const { action } = await this.elicit({ mode: "url", message, url, elicitationId: "" }, signal).catch(asDeclined);
      if (action !== "accept") return false;
    }
    return pages.length <= PAGES_MAX;
  }

  async sample(params: CreateMessageRequest["params"], signal: AbortSignal): Promise<CreateMessageResult> {
    const messages = params.messages.map(({ role, content }) => this.#samplingMessage(role, content));
    const system = this.#words(params.systemPrompt ?? "", SAMPLING_LENGTH_MAX);
    const output_tokens_max = Math.min(params.maxTokens, OUTPUT_TOKENS_MAX);
    const last = messages.at(-1);
    const length = messages.reduce((sum, { text }) => sum + text.length, system.length);
    if (last?.role !== "user") throw new AskingRefused(INVALID_PARAMS, "The last message must be the user's.");
    if (length > SAMPLING_LENGTH_MAX) {
      throw new AskingRefused(INVALID_PARAMS, `At most ${SAMPLING_LENGTH_MAX} characters can be put before a person.`);
    }
    const call = this.#caller();
    if (call === null) throw new AskingRefused(REFUSED_BY_PERSON, "There is nobody to ask for this.");
    const { action } = await this.#ask(call, { kind: "sampling", system, messages, output_tokens_max }, signal);
    if (action !== "accept") throw new AskingRefused(REFUSED_BY_PERSON, "User rejected sampling request");
    const { context, patience } = call;
    const answer = await patience.whileAsking(() =>
      context.ask({
        system,
        earlier: messages.slice(0, -1),
        prompt: last.text,
        max_output_tokens: output_tokens_max,
        partial: true,
      }),
    );
    if (!answer.ok) throw new AskingRefused(REFUSED_BY_PERSON, answer.error);
    return {
      role: "assistant",
      content: { type: "text", text: answer.text },
      model: answer.model,
      stopReason: answer.whole ? "endTurn" : "maxTokens",
    };
  }

  #ask({ context, patience }: Call, request: McpRequest, signal: AbortSignal): ReturnType<ToolContext["askPeople"]> {
    const either = AbortSignal.any([patience.signal, signal]);
    return patience.whileAsking(() => context.askPeople(this.#server, request, either));
  }

  #caller(): Call | null {
    const calls = [...this.#calls];
    const rooms = new Set(calls.map(({ context }) => context.root_ws_id));
    if (rooms.size === 1) return calls.at(-1) ?? null;
    this.#log.warn("mcp.asks_nobody", { conversations: rooms.size });
    return null;
  }

  #form(params: { message: string; requestedSchema?: unknown }): McpRequest {
    // The SDK has read it as JSON.
    const read = readForm(params.requestedSchema as Parameters<typeof readForm>[0]);
    if (!read.ok) throw new AskingRefused(INVALID_PARAMS, read.error);
    return { kind: "form", message: this.#words(params.message, MESSAGE_LENGTH_MAX), fields: read.fields };
  }

  #link(message: string, url: string): McpRequest {
    const protocol = URL.canParse(url) ? new URL(url).protocol : "";
    if (protocol !== "https:" && protocol !== "http:") {
      throw new AskingRefused(INVALID_PARAMS, "Only http and https addresses can be opened.");
    }
    return { kind: "link", message: this.#words(message, MESSAGE_LENGTH_MAX), url: new URL(url).href };
  }

  #samplingMessage(role: "user" | "assistant", content: unknown): McpSamplingMessage {
    const parts = Array.isArray(content) ? content : [content];
    const texts = parts.map((part: unknown) => {
      const text: unknown = typeof part === "object" && part !== null && "text" in part ? part.text : null;
      if (typeof text === "string") return text;
      throw new AskingRefused(INVALID_PARAMS, "Only text can be sampled here.");
    });
    return { role, text: this.#words(texts.join("\n"), SAMPLING_LENGTH_MAX + 1) };
  }

  #words(text: string, length_max: number): string {
    return this.#redact(visible(text)).slice(0, length_max);
  }
}

/** An address that is none counts as one that nobody agreed to. */
function asDeclined(error: unknown): ElicitResult {
  if (error instanceof AskingRefused) return { action: "decline" };
  throw error;
}
