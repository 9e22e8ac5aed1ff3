import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { estimateTokens } from "./tokens.ts";
import type { TurnPort } from "./turn_port.ts";

/** Tokens that are left for an answer at least, however full the context is. */
const ANSWER_TOKENS_MIN = 1024;

/** Makes the request for one model of the chain; cheap, since nothing in it is copied. Without tools the model can only answer. */
export async function requestBuilder(
  port: TurnPort,
  catalog: Catalog,
  loadAttachment: (attachment_id: string) => Promise<Uint8Array | null>,
  with_tools: boolean,
): Promise<(settings: ModelSettings) => ModelRequest> {
  const system = await port.systemPrompt();
  const { messages } = port.conversation;
  const tools = with_tools ? catalog.offered(port.workstream.kind) : [];
  return (settings) => {
    const { context_window, max_output_tokens } = settings.capabilities;
    const left = context_window - estimateTokens(port.conversation, system, tools);
    return {
      settings,
      system,
      messages,
      tools,
      deferred_tools: [],
      native_web_search: with_tools && settings.capabilities.supports_web_search,
      max_output_tokens: Math.max(ANSWER_TOKENS_MIN, Math.min(max_output_tokens, left)),
      loadAttachment,
    };
  };
}
