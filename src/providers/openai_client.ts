import type { OpenAI } from "openai";
import type { ModelSettings } from "../contracts/provider.ts";
import { fetchModelList } from "./model_list.ts";
import { NO_TIMEOUT_MS, needsPatience, patientFetch } from "./patience.ts";

/** Clients by address and key: few, and each keeps its connections. */
const clients = new Map<string, OpenAI>();

type ClientSettings = Pick<ModelSettings, "base_url" | "api_key" | "stall_timeout_ms">;

/** A client of the vendor's SDK, which is loaded with the first call. It reads nothing from the environment. */
async function openaiClient(settings: ClientSettings): Promise<OpenAI> {
  const patient = needsPatience(settings.stall_timeout_ms);
  const key = JSON.stringify([settings.base_url, settings.api_key, patient]);
  const known = clients.get(key);
  if (known !== undefined) return known;
  const sdk = await import("openai");
  const client = new sdk.OpenAI({
    baseURL: settings.base_url,
    // The SDK insists on a key; servers on one's own machine have none.
    apiKey: settings.api_key || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    ...(patient ? { fetch: await patientFetch() } : {}),
    ...(settings.api_key === "" ? { defaultHeaders: { authorization: null } } : {}),
  });
  clients.set(key, client);
  return client;
}

/** Posts JSON text as it is and gives the bare response: events are read where silence can be noticed. */
export async function postJson(
  settings: ModelSettings,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const client = await openaiClient(settings);
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  return client.post(path, { body, headers, stream: true, signal }).asResponse();
}

/** Names of a server's models in its own order; null when it does not answer or answers something else. */
export function listModels(
  { base_url, api_key }: Pick<ModelSettings, "base_url" | "api_key">,
  signal: AbortSignal,
): Promise<string[] | null> {
  const headers: Record<string, string> = api_key === "" ? {} : { authorization: `Bearer ${api_key}` };
  return fetchModelList(`${base_url.replace(/\/$/, "")}/models`, headers, signal);
}
