import { ChatFold } from "./chat_fold.ts";
import { CHAT_PROVIDER, chatBody } from "./chat_request.ts";
import { listModels, postJson } from "./openai_client.ts";
import { createWireProvider } from "./wire_provider.ts";

/** Chat completions: what most servers speak, from one's own machine to the large clouds. */
export const openaiCompatible = createWireProvider({
  name: CHAT_PROVIDER,
  body: chatBody,
  send: (settings, body, signal) => postJson(settings, "/chat/completions", body, signal),
  fold: (request) => new ChatFold(request),
  listModels,
});
