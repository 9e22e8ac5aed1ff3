import type { Capabilities } from "../contracts/provider.ts";

/** For a model that nobody knows, on any server: what the plainest accepts. */
const UNKNOWN: Capabilities = {
  context_window: 131_072,
  max_output_tokens: 8_192,
  supports_vision: false,
  supports_temperature: true,
  supports_web_search: false,
  supports_tool_search: false,
  supports_parallel_tools: false,
  effort_levels: [],
  thinking_mode: "none",
  token_param: "max_tokens",
};

const OPENAI: Capabilities = {
  ...UNKNOWN,
  context_window: 400_000,
  max_output_tokens: 128_000,
  supports_vision: true,
  supports_temperature: false,
  supports_web_search: true,
  supports_parallel_tools: true,
  effort_levels: ["minimal", "low", "medium", "high"],
  token_param: "max_completion_tokens",
};
const OPENAI_CHAT: Capabilities = {
  ...OPENAI,
  context_window: 128_000,
  max_output_tokens: 16_384,
  supports_temperature: true,
  effort_levels: [],
};
const OPENAI_REASONING: Capabilities = {
  ...OPENAI,
  context_window: 200_000,
  max_output_tokens: 100_000,
  effort_levels: ["low", "medium", "high"],
  // Chat completions of these models refuse the parameter.
  supports_parallel_tools: false,
};
const GPT_5_1: Capabilities = {
  ...OPENAI,
  supports_temperature: true,
  effort_levels: ["none", "low", "medium", "high"],
};
const GPT_5_2: Capabilities = { ...GPT_5_1, effort_levels: ["none", "low", "medium", "high", "xhigh"] };
const GPT_5_4: Capabilities = { ...GPT_5_2, context_window: 1_050_000, supports_tool_search: true };
const PRO_LEVELS = ["medium", "high", "xhigh"];

/** Models that think within a budget of tokens that the request sets. */
const ANTHROPIC_MANUAL: Capabilities = {
  ...UNKNOWN,
  context_window: 200_000,
  max_output_tokens: 64_000,
  supports_vision: true,
  supports_web_search: true,
  supports_parallel_tools: true,
  effort_levels: ["none", "low", "medium", "high"],
  thinking_mode: "manual",
};
/** Models that decide themselves how much to think; they refuse a budget. */
const ANTHROPIC_4_6: Capabilities = {
  ...ANTHROPIC_MANUAL,
  context_window: 1_000_000,
  supports_tool_search: true,
  effort_levels: ["none", "low", "medium", "high", "max"],
  thinking_mode: "adaptive",
};
/** Since Opus 4.7 they refuse a temperature too, and not all of them can be kept from thinking. */
const ANTHROPIC_LATEST: Capabilities = {
  ...ANTHROPIC_4_6,
  max_output_tokens: 128_000,
  supports_temperature: false,
  effort_levels: ["low", "medium", "high", "xhigh", "max"],
};

/**
 * What is believed of models by the beginning of their names; the longest beginning that fits wins. As known on
 * 2026-11-30. Where a vendor's page was not at hand, a model has what its predecessor had.
 */
const TABLE: readonly (readonly [string, Capabilities])[] = [
  ["gpt-4o", OPENAI_CHAT],
  ["gpt-4.1", { ...OPENAI_CHAT, context_window: 1_047_576, max_output_tokens: 32_768 }],
  [
    "gpt-4.1-nano",
    { ...OPENAI_CHAT, context_window: 1_047_576, max_output_tokens: 32_768, supports_web_search: false },
  ],
  ["gpt-4", { ...OPENAI_CHAT, supports_vision: false, supports_web_search: false, max_output_tokens: 4_096 }],
  ["gpt-5", OPENAI],
  ["gpt-5-pro", { ...OPENAI, max_output_tokens: 272_000, effort_levels: ["high"] }],
  ["gpt-5-chat", { ...OPENAI_CHAT, supports_temperature: false }],
  ["gpt-5.1-chat", { ...OPENAI_CHAT, supports_temperature: false }],
  ["gpt-5.2-chat", { ...OPENAI_CHAT, supports_temperature: false }],
  ["gpt-5.3-chat", { ...OPENAI_CHAT, supports_temperature: false }],
  ["gpt-5-search-api", { ...OPENAI, effort_levels: [] }],
  ["gpt-5.1", GPT_5_1],
  ["gpt-5.2", GPT_5_2],
  ["gpt-5.2-pro", { ...OPENAI, effort_levels: PRO_LEVELS }],
  ["gpt-5.3", GPT_5_2],
  ["gpt-5.4", GPT_5_4],
  ["gpt-5.4-pro", { ...GPT_5_4, supports_temperature: false, effort_levels: PRO_LEVELS }],
  // Later ones are believed to be able to do what the last known one does.
  ["gpt-5.", GPT_5_4],
  ["gpt-6", GPT_5_4],
  ["o1", { ...OPENAI_REASONING, supports_web_search: false }],
  [
    "o1-mini",
    {
      ...OPENAI_REASONING,
      context_window: 128_000,
      max_output_tokens: 65_536,
      supports_vision: false,
      supports_web_search: false,
      effort_levels: [],
    },
  ],
  ["o3", OPENAI_REASONING],
  ["o3-mini", { ...OPENAI_REASONING, supports_vision: false, supports_web_search: false }],
  ["o4-mini", OPENAI_REASONING],
  [
    "claude-3",
    {
      ...ANTHROPIC_MANUAL,
      max_output_tokens: 4_096,
      thinking_mode: "none",
      effort_levels: [],
      supports_web_search: false,
    },
  ],
  ["claude-3-5", { ...ANTHROPIC_MANUAL, max_output_tokens: 8_192, thinking_mode: "none", effort_levels: [] }],
  ["claude-3-7", ANTHROPIC_MANUAL],
  ["claude-haiku-4", ANTHROPIC_MANUAL],
  ["claude-opus-4", { ...ANTHROPIC_MANUAL, max_output_tokens: 32_000, supports_tool_search: true }],
  ["claude-sonnet-4", { ...ANTHROPIC_MANUAL, supports_tool_search: true }],
  ["claude-opus-4-5", { ...ANTHROPIC_MANUAL, supports_tool_search: true }],
  ["claude-opus-4-6", { ...ANTHROPIC_4_6, max_output_tokens: 128_000 }],
  ["claude-sonnet-4-6", ANTHROPIC_4_6],
  ["claude-opus-4-7", ANTHROPIC_LATEST],
  ["claude-opus-4-8", ANTHROPIC_LATEST],
  ["claude-", ANTHROPIC_LATEST],
];

const LONGEST_FIRST = TABLE.toSorted(([one], [other]) => other.length - one.length);

/**
 * What is believed of a model, with a setting's own keys on top. A model reached another way can do less: web and
 * tool search belong to the vendor's own wire format, except for chat completions' search models.
 */
export function capabilitiesOf(provider: string, model: string, overrides: Partial<Capabilities> = {}): Capabilities {
  const known = entryOf(model)?.[1] ?? unknownOf(provider);
  return { ...known, ...reachable(provider, model, known), ...overrides };
}

/** The beginning of the name by which the table knows a model; null when it does not. */
export function knownAs(model: string): string | null {
  return entryOf(model)?.[0] ?? null;
}

function entryOf(model: string): (typeof TABLE)[number] | undefined {
  // Brokers put the vendor before the name, as in `openai/gpt-5`.
  const name = model.replace(/^(openai|anthropic)\//, "");
  return LONGEST_FIRST.find(([beginning]) => name.startsWith(beginning));
}

function unknownOf(provider: string): Capabilities {
  switch (provider) {
    case "anthropic":
      return ANTHROPIC_MANUAL;
    case "openai":
      return { ...OPENAI, effort_levels: [], supports_web_search: false };
    default:
      return UNKNOWN;
  }
}

function reachable(provider: string, model: string, known: Capabilities): Partial<Capabilities> {
  switch (provider) {
    case "openai":
      return { token_param: "max_output_tokens" };
    case "anthropic":
      return { token_param: "max_tokens" };
    default:
      return {
        supports_web_search: known.supports_web_search && /-search-(api|preview)/.test(model),
        supports_tool_search: false,
        thinking_mode: "none",
      };
  }
}
