import { address, choice, list, number, optional, partialSection, section, text, whole, yesNo } from "./field.ts";
import type { ValueOf } from "./field.ts";

export const PROVIDER_NAMES = ["openai-compatible", "openai", "anthropic", "demo"] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

// Beyond any model that exists; catches a figure with zeros too many.
const TOKENS = { minimum: 1, maximum: 100_000_000 };
const USD = { minimum: 0, maximum: 100_000, fallback: 0 };
// Longer silence than a day is a dead connection on any machine.
const SILENCE_S = { minimum: 1, maximum: 86_400 };

/** What is left out is as the table of known models says, by the model's name. */
const AS_KNOWN = "as the model is known";

const capabilities = partialSection({
  context_window: whole({ ...TOKENS, about: "tokens in all", fallback: 1, shown: AS_KNOWN }),
  max_output_tokens: whole({ ...TOKENS, about: "tokens of one answer", fallback: 1, shown: AS_KNOWN }),
  supports_vision: yesNo({ about: "takes pictures", fallback: false, shown: AS_KNOWN }),
  supports_temperature: yesNo({ about: "takes a temperature", fallback: false, shown: AS_KNOWN }),
  supports_web_search: yesNo({ about: "its provider searches the web", fallback: false, shown: AS_KNOWN }),
  supports_tool_search: yesNo({ about: "its provider searches tools", fallback: false, shown: AS_KNOWN }),
  supports_parallel_tools: yesNo({ about: "may call several tools at once", fallback: false, shown: AS_KNOWN }),
  effort_levels: list(text({ about: "a level", fallback: null }), { about: "efforts that it takes", shown: AS_KNOWN }),
  thinking_mode: choice(["none", "manual", "adaptive"], {
    about: "how it is told to think",
    fallback: "none",
    shown: AS_KNOWN,
  }),
  token_param: choice(["max_tokens", "max_completion_tokens", "max_output_tokens"], {
    about: "the parameter that limits an answer",
    fallback: "max_tokens",
    shown: AS_KNOWN,
  }),
});

const price = section({
  input: number({ ...USD, about: "USD per million tokens read" }),
  output: number({ ...USD, about: "USD per million tokens written" }),
  cache_read: number({ ...USD, about: "USD per million tokens read from the cache" }),
  cache_write: number({ ...USD, about: "USD per million tokens written to the cache" }),
});

/** `[models.<alias>]`. */
export const model = section({
  provider: choice(PROVIDER_NAMES, { about: "the wire format", fallback: null, shown: "openai-compatible" }),
  base_url: address({
    about: "where the model is; without /v1 for anthropic",
    fallback: null,
    shown: "the provider's own, or a local server",
  }),
  api_key: text({ about: "its key", fallback: null, secret: true }),
  model: text({ about: "its name on the wire", fallback: null, shown: "one that the server lists" }),
  effort: text({ about: "how hard it thinks", fallback: null, shown: "the model's own" }),
  temperature: number({ minimum: 0, maximum: 2, about: "of sampling", fallback: null, shown: "the model's own" }),
  stall_timeout: whole({
    ...SILENCE_S,
    about: "seconds without a byte after which a stream counts as dead",
    fallback: 60,
  }),
  capabilities,
  price: optional(price),
});

export type ModelTable = ValueOf<typeof model>;

/** The environment speaks of one model only, the one called `default`. */
export const DEFAULT_MODEL_VARIABLES: Readonly<Record<string, string>> = {
  TURNSTONE_PROVIDER: "models.default.provider",
  TURNSTONE_BASE_URL: "models.default.base_url",
  TURNSTONE_API_KEY: "models.default.api_key",
  TURNSTONE_MODEL: "models.default.model",
};
