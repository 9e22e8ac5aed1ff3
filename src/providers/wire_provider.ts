import type { ModelRequest, ModelSettings, Provider, ProviderEvent } from "../contracts/provider.ts";
import { runModelCall, type StreamFold } from "./model_call.ts";
import { loadPictures } from "./pictures.ts";

/** What tells one wire format from another. */
export interface WireFormat {
  /** The provider's name in the configuration. */
  name: string;
  /** The request's body as JSON text; the request's pictures are loaded by then. */
  body(request: ModelRequest): string;
  /** Sends it. Rejects for a status that is not a success, with the vendor SDK's error. */
  send(settings: ModelSettings, body: string, signal: AbortSignal): Promise<Response>;
  /** Reads the answer's events. */
  fold(request: ModelRequest): StreamFold;
  listModels: Provider["listModels"];
}

/** A provider that speaks a wire format over HTTP. */
export function createWireProvider(format: WireFormat): Provider {
  return {
    name: format.name,
    stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> {
      const { settings } = request;
      return runModelCall({
        signal,
        stall_timeout_ms: settings.stall_timeout_ms,
        api_key: settings.api_key,
        fold: format.fold(request),
        async prepare() {
          await loadPictures(request);
          return format.body(request);
        },
        send: (body, own_signal) => format.send(settings, body, own_signal),
      });
    },
    listModels: (settings, signal) => format.listModels(settings, signal),
  };
}
