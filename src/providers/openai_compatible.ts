import type { ModelRequest, ModelSettings, Provider, ProviderEvent } from "../contracts/provider.ts";
import { ChatFold } from "./chat_fold.ts";
import { CHAT_PROVIDER, chatBody } from "./chat_request.ts";
import { runModelCall } from "./model_call.ts";
import { listModels, postJson } from "./openai_client.ts";
import { loadPictures } from "./pictures.ts";

/** Chat completions: what most servers speak, from one's own machine to the large clouds. */
export const openaiCompatible: Provider = {
  name: CHAT_PROVIDER,
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> {
    const { settings } = request;
    return runModelCall({
      signal,
      stall_timeout_ms: settings.stall_timeout_ms,
      api_key: settings.api_key,
      fold: new ChatFold(request),
      async prepare() {
        await loadPictures(request);
        return chatBody(request);
      },
      send: (body, ownSignal) => postJson(settings, "/chat/completions", body, ownSignal),
    });
  },
  listModels(settings: Pick<ModelSettings, "base_url" | "api_key">, signal: AbortSignal) {
    return listModels(settings, signal);
  },
};
