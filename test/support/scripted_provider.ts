import type { ModelRequest, Provider, ProviderEvent } from "../../src/contracts/provider.ts";
import type { Usage } from "../../src/protocol/message.ts";

/** What one model call does: a list of events, or a function of the request and signal. */
export type Script = ProviderEvent[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ProviderEvent>);

const USAGE: Usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

/** A whole answer in words. */
export function says(text: string): ProviderEvent[] {
  return [
    { type: "content", text },
    { type: "ended", stop_reason: "stop", usage: USAGE },
  ];
}

/** An answer that asks for tools. */
export function calls(...asked: { id?: string; name: string; arguments: unknown }[]): ProviderEvent[] {
  return [
    ...asked.map(({ id, name, arguments: args }, index): ProviderEvent => {
      const text = typeof args === "string" ? args : JSON.stringify(args);
      return { type: "tool_call", call: { id: id ?? `call_${index}`, name, arguments: text } };
    }),
    { type: "ended", stop_reason: "tool_calls", usage: USAGE },
  ];
}

/** A provider that plays scripts in order and keeps what it was asked. */
export class ScriptedProvider implements Provider {
  readonly name = "scripted";
  readonly requests: ModelRequest[] = [];
  #scripts: Script[] = [];

  script(...scripts: Script[]): this {
    this.#scripts.push(...scripts);
    return this;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent> {
    // Titles are asked for in the background; a script speaks of the conversation alone.
    if (request.system.startsWith("Give the conversation a title")) return yield* says("A title");
    this.requests.push({ ...request, messages: [...request.messages] });
    const script = this.#scripts.shift() ?? says("(the script is over)");
    if (typeof script === "function") yield* script(request, signal);
    else yield* script;
  }

  listModels(): Promise<string[]> {
    return Promise.resolve(["scripted"]);
  }
}
