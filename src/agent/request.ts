import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Offer } from "../catalog/offer.ts";
import type { Message } from "../protocol/message.ts";
import { fitMessages } from "./fit.ts";
import { withSpeakers } from "./speakers.ts";
import { countScale, estimateTokens, fixedTokens } from "./tokens.ts";
import type { TurnPort } from "./turn_port.ts";

/** Tokens that are left for an answer at least, however full the context is. */
const ANSWER_TOKENS_MIN = 1024;

/** A window so small gives an answer this part of itself at least. */
const ANSWER_SHARE_MIN = 1 / 8;

/**
 * Makes the request for one model of the chain; cheap, since nothing in it is copied unless it cannot fit. Without
 * tools the model can only answer.
 */
export async function requestBuilder(
  port: TurnPort,
  catalog: Catalog,
  loadAttachment: (attachment_id: string) => Promise<Uint8Array | null>,
  with_tools: boolean,
): Promise<(settings: ModelSettings) => ModelRequest> {
  const { system, messages } = withSpeakers(await port.systemPrompt(), port.conversation.messages);
  return (settings) => {
    const { context_window, max_output_tokens } = settings.capabilities;
    const { tools, deferred } = with_tools ? offerFor(port, catalog, settings) : NOTHING;
    const left = context_window - estimateTokens(port.conversation, system, tools, context_window);
    const answer_min = Math.min(ANSWER_TOKENS_MIN, context_window * ANSWER_SHARE_MIN, max_output_tokens);
    const fits = left >= answer_min;
    const cutToFit = (): readonly Message[] => {
      const fixed = fixedTokens(system, tools);
      return fitMessages(messages, (context_window - answer_min) / countScale(port.conversation, fixed) - fixed);
    };
    return {
      settings,
      system,
      messages: fits ? messages : cutToFit(),
      tools,
      deferred_tools: deferred,
      native_web_search: with_tools && settings.capabilities.supports_web_search,
      max_output_tokens: Math.floor(fits ? Math.min(max_output_tokens, left) : answer_min),
      loadAttachment,
    };
  };
}

/** Without tools the model can only answer. */
const NOTHING: Offer = { tools: [], deferred: [] };

/** What one model is told of the tools that this workstream may use. */
export function offerFor(
  { workstream, conversation }: TurnPort,
  catalog: Catalog,
  { capabilities }: ModelSettings,
): Offer {
  return catalog.offered({
    kind: workstream.kind,
    expanded: conversation.expanded_tools,
    native_search: capabilities.supports_tool_search,
  });
}
