import type { ModelSettings } from "../contracts/provider.ts";

type Price = NonNullable<ModelSettings["price"]>;

/**
 * USD per million tokens by the beginning of a model's name; the longest that fits wins. As known on 2026-03-01: for
 * orientation, a model's own setting overrides it.
 */
const TABLE: readonly (readonly [string, Price])[] = [
  ["gpt-4o-mini", openai(0.15, 0.6, 0.075)],
  ["gpt-4o", openai(2.5, 10, 1.25)],
  ["gpt-4.1-nano", openai(0.1, 0.4, 0.025)],
  ["gpt-4.1-mini", openai(0.4, 1.6, 0.1)],
  ["gpt-4.1", openai(2, 8, 0.5)],
  ["o3", openai(2, 8, 0.5)],
  ["o4-mini", openai(1.1, 4.4, 0.275)],
  ["gpt-5-nano", openai(0.05, 0.4, 0.005)],
  ["gpt-5-mini", openai(0.25, 2, 0.025)],
  ["gpt-5-pro", openai(15, 120, 15)],
  ["gpt-5", openai(1.25, 10, 0.125)],
  ["gpt-5.1", openai(1.25, 10, 0.125)],
  ["gpt-5.2", openai(1.75, 14, 0.175)],
  ["claude-haiku-4-5", anthropic(1, 5)],
  ["claude-sonnet-4", anthropic(3, 15)],
  ["claude-opus-4", anthropic(15, 75)],
  ["claude-opus-4-5", anthropic(5, 25)],
  ["claude-opus-4-6", anthropic(5, 25)],
];

const LONGEST_FIRST = TABLE.toSorted(([one], [other]) => other.length - one.length);

/**
 * The price of a model at its vendor; null when it is not known. A later version (`gpt-5.9`) is not the earlier one
 * (`gpt-5`), so what follows the beginning must start a new part of the name.
 */
export function priceOf(model: string): Price | null {
  const fits = ([beginning]: readonly [string, Price]): boolean =>
    model === beginning || (model.startsWith(beginning) && model[beginning.length] === "-");
  return LONGEST_FIRST.find(fits)?.[1] ?? null;
}

/** OpenAI does not charge for writing to its cache. */
function openai(input: number, output: number, cache_read: number): Price {
  return { input, output, cache_read, cache_write: input };
}

/** Anthropic charges a tenth for reading from its cache and a quarter more for writing to it for five minutes. */
function anthropic(input: number, output: number): Price {
  return { input, output, cache_read: input / 10, cache_write: input * 1.25 };
}
