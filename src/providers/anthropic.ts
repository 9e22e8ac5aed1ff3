import type { Anthropic } from "@anthropic-ai/sdk";
import type { ModelRequest, ModelSettings, Provider, ProviderEvent } from "../contracts/provider.ts";
import { AnthropicFold } from "./anthropic_fold.ts";
import { ANTHROPIC_PROVIDER, anthropicBody } from "./anthropic_request.ts";
import { runModelCall } from "./model_call.ts";
import { NO_TIMEOUT_MS, needsPatience, patientFetch } from "./patience.ts";
import { loadPictures } from "./pictures.ts";

/** Clients by address and key: few, and each keeps its connections. */
const clients = new Map<string, Anthropic>();

/** Anthropic's Messages API. */
export const anthropic: Provider = {
  name: ANTHROPIC_PROVIDER,
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> {
    const { settings } = request;
    return runModelCall({
      signal,
      stall_timeout_ms: settings.stall_timeout_ms,
      api_key: settings.api_key,
      fold: new AnthropicFold(request),
      async prepare() {
        await loadPictures(request);
        return anthropicBody(request);
      },
      async send(body, ownSignal) {
        const client = await anthropicClient(settings);
        const headers = { "content-type": "application/json", accept: "text/event-stream" };
        return client.post("/v1/messages", { body, headers, stream: true, signal: ownSignal }).asResponse();
      },
    });
  },
  async listModels(settings: Pick<ModelSettings, "base_url" | "api_key">, signal: AbortSignal) {
    try {
      const client = await anthropicClient({ ...settings, stall_timeout_ms: 0 });
      const names: string[] = [];
      for await (const model of client.models.list({}, { signal })) names.push(model.id);
      return names;
    } catch {
      return null; // Whatever is wrong, there is nothing to choose from; the first call says why.
    }
  },
};

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
    // The SDK adds /v1 itself; an address that has it already is meant kindly.
    baseURL: settings.base_url.replace(/\/v1\/?$/, ""),
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
