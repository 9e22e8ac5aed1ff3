import type { ModelSettings } from "../contracts/provider.ts";
import type { Message } from "../protocol/message.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import { imagesOf } from "./pictures.ts";

/**
 * JSON of messages for one model, by message. Messages never change, so that a long conversation costs a join and not a
 * translation. Messages with pictures are left out: their bytes are kept once, in `pictures.ts`.
 */
export class EncodedMessages {
  readonly #known = new WeakMap<Message, string>();

  get(message: Message, encode: () => string): string {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const json = encode();
    if (imagesOf(message).length === 0) this.#known.set(message, json);
    return json;
  }
}

/** Keeps JSON of messages apart by all that it depends on: the model, where it is, and whether it sees. */
export class EncodedByModel {
  readonly #variants = new Map<string, EncodedMessages>();

  for(settings: ModelSettings): EncodedMessages {
    const variant = JSON.stringify([settings.model, settings.base_url, settings.capabilities.supports_vision]);
    const known = this.#variants.get(variant) ?? new EncodedMessages();
    this.#variants.set(variant, known);
    return known;
  }
}

/** JSON of lists of tools, by list: the same list comes with every request of a conversation. */
export class EncodedTools {
  readonly #known = new WeakMap<readonly ModelTool[], Map<string, string>>();

  /** JSON texts joined by commas. `variant` names all that `encode` depends on. */
  get(tools: readonly ModelTool[], variant: string, encode: (tool: ModelTool) => unknown): string {
    const variants = this.#known.get(tools) ?? new Map<string, string>();
    this.#known.set(tools, variants);
    const known = variants.get(variant);
    if (known !== undefined) return known;
    const json = tools.map((tool) => JSON.stringify(encode(tool))).join(",");
    variants.set(variant, json);
    return json;
  }
}

/** The tools without the one that a provider's own web search stands for. */
export function withoutWebSearch(tools: readonly ModelTool[]): readonly ModelTool[] {
  const known = withoutSearch.get(tools);
  if (known !== undefined) return known;
  const others = tools.filter((tool) => tool.name !== "web_search");
  withoutSearch.set(tools, others);
  return others;
}

/** Kept, so that the same list gives the same list, which {@link EncodedTools} knows again. */
const withoutSearch = new WeakMap<readonly ModelTool[], readonly ModelTool[]>();
