import { setImmediate as nextTurn } from "node:timers/promises";
import type { startEngine } from "../../../test/support/engine_rig.ts";
import { says, ScriptedProvider, type Script } from "../../../test/support/scripted_provider.ts";
import type { ModelRequest, ProviderEvent } from "../../contracts/provider.ts";
import { textOf, type Message } from "../../protocol/message.ts";

/** About so many tokens of words. */
export function words(tokens: number, word = "lorem"): string {
  return `${word} `.repeat(tokens).trim();
}

/** Whether a summary is asked for. */
export function isSummary(request: ModelRequest): boolean {
  return request.system.startsWith("You summarise");
}

/** Plays summaries apart from the conversation. */
export function player(summary: (request: ModelRequest) => ProviderEvent[], ...scripts: Script[]): ScriptedProvider {
  const conversation = [...scripts];
  const play: Script = async function* (request, signal): AsyncGenerator<ProviderEvent> {
    const script = isSummary(request) ? summary(request) : (conversation.shift() ?? says("(the script is over)"));
    const events = typeof script === "function" ? script(request, signal) : script;
    for await (const event of events) yield counted(event, request);
  };
  return new ScriptedProvider().script(...Array.from({ length: 400 }, () => play));
}

/** What a provider would count, where the script does not say. */
function counted(event: ProviderEvent, { messages, system }: ModelRequest): ProviderEvent {
  if (event.type !== "ended" || event.usage.total_tokens !== 110) return event;
  const prompt_tokens = Math.ceil((JSON.stringify(messages).length + system.length) / 6);
  return { ...event, usage: { prompt_tokens, completion_tokens: 10, total_tokens: prompt_tokens + 10 } };
}

/** A good summary. */
export const SUMMARY = (): ProviderEvent[] => says("## Decisions\nWe use tabs.");

/** The summary is refused. */
export const FAILED: ProviderEvent[] = [
  { type: "failed", failure: { code: "model_rejected", message: "No.", detail: "", retryable: false } },
];

/** The provider says that the conversation is too long. */
export const OVERFLOW: ProviderEvent[] = [
  { type: "failed", failure: { code: "model_context_overflow", message: "Too long.", detail: "", retryable: false } },
];

/** The answer, with what the provider claims to have counted. */
export function counts(total_tokens: number, ...events: ProviderEvent[]): ProviderEvent[] {
  const usage = { prompt_tokens: total_tokens - 10, completion_tokens: 10, total_tokens };
  return events.map((event) => (event.type === "ended" ? { ...event, usage } : event));
}

/** What each message says. */
export function texts(messages: readonly Message[]): string[] {
  return messages.map((message) => (message.role === "assistant" ? message.content : textOf(message.content)));
}

/** An engine, and a workstream that is watched. */
export type Rig = Awaited<ReturnType<typeof startEngine>>;
type Watched = Awaited<ReturnType<Rig["open"]>>;

/** Says these messages, each after the turn before it. */
export async function turns(ws: Watched, ...messages: string[]): Promise<void> {
  for (const message of messages) {
    const before = ws.types().filter((type) => type === "turn_ended").length;
    await ws.say(message);
    await ws.turnEnded(before + 1);
  }
}

/** The turn's end is told a moment before the workstream takes requests that need it at rest. */
export async function atRest<T extends { ok: boolean }>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await request();
    if (answer.ok) return answer;
    await nextTurn();
  }
}

/** What the model was asked, but for summaries. */
export function conversationRequests({ provider }: Rig): ModelRequest[] {
  return provider.requests.filter((request) => !isSummary(request));
}
