import type { Capabilities, ModelRequest, ModelSettings, ProviderEvent } from "../../../src/contracts/provider.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from "../../../src/protocol/message.ts";
import type { ModelTool } from "../../../src/protocol/tool_definition.ts";

/** A model that can do everything and a request that asks nothing special; each test says what differs. */
export function modelRequest(
  messages: readonly Message[],
  options: Partial<Omit<ModelRequest, "settings">> & {
    settings?: Partial<ModelSettings>;
    capabilities?: Partial<Capabilities>;
  } = {},
): ModelRequest {
  const { settings, capabilities, ...rest } = options;
  return {
    settings: {
      alias: "default",
      provider: "openai-compatible",
      model: "scripted-model",
      base_url: "",
      api_key: "test-key-1234",
      effort: "",
      temperature: null,
      price: null,
      stall_timeout_ms: 10_000,
      ...settings,
      capabilities: {
        context_window: 128_000,
        max_output_tokens: 8_000,
        supports_vision: true,
        supports_temperature: true,
        supports_web_search: false,
        supports_tool_search: false,
        supports_parallel_tools: true,
        effort_levels: [],
        thinking_mode: "none",
        token_param: "max_tokens",
        ...capabilities,
      },
    },
    system: "Be brief.",
    messages,
    tools: [],
    deferred_tools: [],
    native_web_search: false,
    max_output_tokens: 4_000,
    loadAttachment: async () => Buffer.from("picture"),
    ...rest,
  };
}

export function user(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

export function assistant(
  content: string,
  tool_calls: ToolCall[] = [],
  more: Partial<AssistantMessage> = {},
): AssistantMessage {
  return { role: "assistant", content, tool_calls, ...more };
}

export function toolResult(call_id: string, text: string, more: Partial<ToolMessage> = {}): ToolMessage {
  return { role: "tool", call_id, name: "read_file", content: [{ type: "text", text }], is_error: false, ...more };
}

export const READ_FILE: ModelTool = {
  name: "read_file",
  description: "Reads a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
};

export async function collect(stream: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** What a stream came to. */
export interface Outcome {
  content: string;
  reasoning: string;
  calls: ToolCall[];
  infos: string[];
  expanded: string[];
  last: Extract<ProviderEvent, { type: "ended" | "failed" }>;
}

/** Runs a stream to its end and checks that exactly one last event came, and came last. */
export async function outcomeOf(stream: AsyncIterable<ProviderEvent>): Promise<Outcome> {
  const events = await collect(stream);
  const outcome: Omit<Outcome, "last"> = { content: "", reasoning: "", calls: [], infos: [], expanded: [] };
  for (const event of events.slice(0, -1)) {
    switch (event.type) {
      case "content":
        outcome.content += event.text;
        break;
      case "reasoning":
        outcome.reasoning += event.text;
        break;
      case "tool_call":
        outcome.calls.push(event.call);
        break;
      case "info":
        outcome.infos.push(event.message);
        break;
      case "expanded_tools":
        outcome.expanded.push(...event.names);
        break;
      case "ended":
      case "failed":
        throw new Error(`The event "${event.type}" came before the end.`);
    }
  }
  const last = events.at(-1);
  if (last?.type !== "ended" && last?.type !== "failed") throw new Error("The stream ended without a last event.");
  return { ...outcome, last };
}

/** The assistant message that a turn loop would keep of an outcome. */
export function messageOf(outcome: Outcome): AssistantMessage {
  const replay = outcome.last.type === "ended" ? outcome.last.replay : undefined;
  return {
    role: "assistant",
    content: outcome.content,
    ...(outcome.reasoning === "" ? {} : { reasoning: outcome.reasoning }),
    tool_calls: outcome.calls,
    ...(replay === undefined ? {} : { replay }),
  };
}
