import type { Provider } from "../contracts/provider.ts";
import { anthropic } from "./anthropic.ts";
import { demo } from "./demo.ts";
import { openai } from "./openai.ts";
import { openaiCompatible } from "./openai_compatible.ts";

/** Every wire format: one line each. A vendor's SDK is loaded with the first call that needs it, not here. */
const PROVIDERS: readonly Provider[] = [openaiCompatible, openai, anthropic, demo];

/** The providers by the name that `provider` in a model's settings uses. */
export function createProviders(): Map<string, Provider> {
  return new Map(PROVIDERS.map((provider) => [provider.name, provider]));
}
