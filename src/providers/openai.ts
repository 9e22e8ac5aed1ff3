import type { ModelRequest, ModelSettings, Provider, ProviderEvent } from "../contracts/provider.ts";
import { runModelCall } from "./model_call.ts";
import { listModels, postJson } from "./openai_client.ts";
import { loadPictures } from "./pictures.ts";
import { ResponsesFold } from "./responses_fold.ts";
import { RESPONSES_PROVIDER, responsesBody } from "./responses_request.ts";

/** OpenAI's Responses API: reasoning that survives between calls, web search and tool search at OpenAI. */
export const openai: Provider = {
  name: RESPONSES_PROVIDER,
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> {
    const { settings } = request;
    return runModelCall({
      signal,
      stall_timeout_ms: settings.stall_timeout_ms,
      api_key: settings.api_key,
      fold: new ResponsesFold(request),
      async prepare() {
        await loadPictures(request);
        return responsesBody(request);
      },
      send: (body, ownSignal) => postJson(settings, "/responses", body, ownSignal),
    });
  },
  listModels(settings: Pick<ModelSettings, "base_url" | "api_key">, signal: AbortSignal) {
    return listModels(settings, signal);
  },
};
