import { expect, test } from "vitest";
import { capabilitiesOf } from "./capabilities.ts";
import { priceOf } from "./prices.ts";

test("the longest beginning of a name decides", () => {
  expect(capabilitiesOf("openai", "gpt-5-pro-2025-10-06").effort_levels).toEqual(["high"]);
  expect(capabilitiesOf("openai", "gpt-5-2025-08-07").effort_levels).toContain("minimal");
  expect(capabilitiesOf("anthropic", "claude-opus-4-5-20251101")).toMatchObject({
    thinking_mode: "manual",
    max_output_tokens: 64_000,
  });
  expect(capabilitiesOf("anthropic", "claude-opus-4-7")).toMatchObject({
    thinking_mode: "adaptive",
    supports_temperature: false,
  });
});

test("an unknown model gets what the plainest server accepts", () => {
  expect(capabilitiesOf("openai-compatible", "qwen3-coder:30b")).toMatchObject({
    supports_vision: false,
    supports_web_search: false,
    effort_levels: [],
    token_param: "max_tokens",
  });
});

test("a broker's name for a vendor's model is understood", () => {
  const capabilities = capabilitiesOf("openai-compatible", "anthropic/claude-opus-4.5");
  expect(capabilities).toMatchObject({ supports_vision: true, thinking_mode: "none", supports_web_search: false });
});

test("settings override any key (REQ-MODEL-014)", () => {
  const capabilities = capabilitiesOf("openai-compatible", "llava", { supports_vision: true, context_window: 4096 });
  expect(capabilities).toMatchObject({ supports_vision: true, context_window: 4096, supports_temperature: true });
});

test("the limit's name follows the wire format", () => {
  expect(capabilitiesOf("openai", "gpt-5").token_param).toBe("max_output_tokens");
  expect(capabilitiesOf("openai-compatible", "gpt-5").token_param).toBe("max_completion_tokens");
  expect(capabilitiesOf("anthropic", "claude-sonnet-4-5").token_param).toBe("max_tokens");
});

test("a later version has no price by its predecessor's name", () => {
  expect(priceOf("gpt-5-2025-08-07")).toMatchObject({ input: 1.25 });
  expect(priceOf("gpt-5.9")).toBeNull();
  expect(priceOf("my-own-model")).toBeNull();
});
