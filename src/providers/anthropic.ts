import type { Anthropic } from "@anthropic-ai/sdk";
import type { ModelSettings } from "../contracts/provider.ts";
import { AnthropicFold } from "./anthropic_fold.ts";
import { ANTHROPIC_PROVIDER, anthropicBody } from "./anthropic_request.ts";
import { fetchModelList } from "./model_list.ts";
import { NO_TIMEOUT_MS, needsPatience, patientFetch } from "./patience.ts";
import { createWireProvider } from "./wire_provider.ts";

/** Clients by address and key: few, and each keeps its connections. */
const clients = new Map<string, Anthropic>();

/** The version of the API that `anthropic-version` names; the vendor's SDK sends the same. */
const API_VERSION = "2023-06-01";

/** The most that the API lists at once; the vendor has far fewer models. */
const LISTED_MAX = 1000;

/** Anthropic's Messages API. */
export const anthropic = createWireProvider({
  name: ANTHROPIC_PROVIDER,
  body: anthropicBody,
  async send(settings, body, signal) {
    const client = await anthropicClient(settings);
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    return client.post("/v1/messages", { body, headers, stream: true, signal }).asResponse();
  },
  fold: (request) => new AnthropicFold(request),
  listModels({ base_url, api_key }, signal) {
    const headers = { "x-api-key": api_key || "none", "anthropic-version": API_VERSION };
    return fetchModelList(`${withoutVersion(base_url)}/v1/models?limit=${LISTED_MAX}`, headers, signal);
  },
});

/** The SDK adds /v1 itself; an address that has it already is meant kindly. */
function withoutVersion(base_url: string): string {
  return base_url.replace(/\/(v1\/?)?$/, "");
}

/** A client of the vendor's SDK, which is loaded with the first call. It looks for no credentials of its own. */
async function anthropicClient(
  settings: Pick<ModelSettings, "base_url" | "api_key" | "stall_timeout_ms">,
): Promise<Anthropic> {
  const patient = needsPatience(settings.stall_timeout_ms);
  const key = JSON.stringify([settings.base_url, settings.api_key, patient]);
  const known = clients.get(key);
  if (known !== undefined) return known;
  const sdk = await import("@anthropic-ai/sdk");
  const client = new sdk.Anthropic({
    baseURL: withoutVersion(settings.base_url),
    apiKey: settings.api_key || "none",
    authToken: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    ...(patient ? { fetch: await patientFetch() } : {}),
  });
  clients.set(key, client);
  return client;
}
