import { listModels, postJson } from "./openai_client.ts";
import { ResponsesFold } from "./responses_fold.ts";
import { RESPONSES_PROVIDER, responsesBody } from "./responses_request.ts";
import { createWireProvider } from "./wire_provider.ts";

/** OpenAI's Responses API: reasoning that survives between calls, web search and tool search at OpenAI. */
export const openai = createWireProvider({
  name: RESPONSES_PROVIDER,
  body: responsesBody,
  send: (settings, body, signal) => postJson(settings, "/responses", body, signal),
  fold: (request) => new ResponsesFold(request),
  listModels,
});
