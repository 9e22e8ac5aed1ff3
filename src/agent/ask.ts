import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import { callModels, type ModelCallDependencies, type ModelCallResult } from "./model_call.ts";

/** A question beside the conversation: without tools, and without what was said. */
export interface Question {
  system: string;
  prompt: string;
  /** Tokens. A model that can give less is asked for less. */
  max_output_tokens: number;
}

const NOBODY = { content: () => {}, reasoning: () => {}, info: () => {}, restarted: () => {} };

/** Asks the models of a chain until one answers. Rejects only when the signal is aborted. */
export function ask(
  chain: readonly ModelSettings[],
  { system, prompt, max_output_tokens }: Question,
  signal: AbortSignal,
  dependencies: ModelCallDependencies,
): Promise<ModelCallResult> {
  const request = (settings: ModelSettings): ModelRequest => ({
    settings,
    system,
    messages: [{ role: "user", content: [{ type: "text", text: prompt }] }],
    tools: [],
    deferred_tools: [],
    native_web_search: false,
    max_output_tokens: Math.min(max_output_tokens, settings.capabilities.max_output_tokens),
    loadAttachment: () => Promise.resolve(null),
  });
  return callModels(chain, request, NOBODY, signal, dependencies);
}

/** The text of a whole answer; null when there was none, or only a part of one. */
export function wholeText(result: ModelCallResult): string | null {
  return result.ok && result.answer.stop_reason === "stop" ? result.answer.content : null;
}
