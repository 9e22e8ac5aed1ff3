import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import type { Question } from "../contracts/tool.ts";
import type { McpSamplingMessage } from "../protocol/mcp_request.ts";
import type { Message } from "../protocol/message.ts";
import { callModels, type ModelCallDependencies, type ModelCallResult } from "./model_call.ts";

const NOBODY = { content: () => {}, reasoning: () => {}, info: () => {}, restarted: () => {} };

/**
 * Asks the models of a chain until one answers: without tools, and without what was said in the conversation. Rejects
 * only when the signal is aborted.
 */
export function ask(
  chain: readonly ModelSettings[],
  { system, earlier = [], prompt, max_output_tokens }: Question,
  signal: AbortSignal,
  dependencies: ModelCallDependencies,
): Promise<ModelCallResult> {
  const messages = [...earlier, { role: "user" as const, text: prompt }].map(messageOf);
  const request = (settings: ModelSettings): ModelRequest => ({
    settings,
    system,
    messages,
    tools: [],
    deferred_tools: [],
    native_web_search: false,
    max_output_tokens: Math.min(max_output_tokens, settings.capabilities.max_output_tokens),
    loadAttachment: () => Promise.resolve(null),
  });
  return callModels(chain, request, NOBODY, signal, dependencies);
}

function messageOf({ role, text }: McpSamplingMessage): Message {
  return role === "user" ? { role, content: [{ type: "text", text }] } : { role, content: text, tool_calls: [] };
}

/** The text of a whole answer; null when there was none, or only a part of one. */
export function wholeText(result: ModelCallResult): string | null {
  return result.ok && result.answer.stop_reason === "stop" ? result.answer.content : null;
}
