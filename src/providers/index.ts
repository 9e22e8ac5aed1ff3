import type { Provider } from "../contracts/provider.ts";
import { demo } from "./demo.ts";
import { openaiCompatible } from "./openai_compatible.ts";

/** Every wire format: one line each. A vendor's SDK is loaded with the first call that needs it, not here. */
const PROVIDERS: readonly Provider[] = [openaiCompatible, demo];

/** The providers by the name that `provider` in a model's settings uses. */
export function createProviders(): Map<string, Provider> {
  return new Map(PROVIDERS.map((provider) => [provider.name, provider]));
}
