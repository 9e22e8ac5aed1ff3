import pRetry from "p-retry";
import type { ModelRequest, ModelSettings, Provider, ProviderFailure } from "../contracts/provider.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { ReplayBlocks, StopReason, ToolCall, Usage } from "../protocol/message.ts";
import type { Breakers } from "./breaker.ts";

/** Attempts with one model before the next of the chain is tried. */
const RETRIES_PER_MODEL = 3;
const FIRST_RETRY_DELAY_MS = 1000;

/** The longest that a server's Retry-After is obeyed; more is reported to the person instead. */
const RETRY_AFTER_MAX_MS = 60_000;

/** What a model said, whole. */
export interface ModelAnswer {
  settings: ModelSettings;
  content: string;
  reasoning: string;
  calls: ToolCall[];
  stop_reason: StopReason;
  usage: Usage;
  replay: ReplayBlocks | null;
  expanded_tools: string[];
}

export type ModelCallResult = { ok: true; answer: ModelAnswer } | { ok: false; failure: ProviderFailure; settings: ModelSettings };

/** Who hears a stream while it runs. */
export interface StreamListener {
  content(text: string): void;
  reasoning(text: string): void;
  info(message: string): void;
  /** What was shown is void: the call starts again. */
  restarted(reason: string): void;
}

export interface ModelCallDependencies {
  providers: ReadonlyMap<string, Provider>;
  breakers: Breakers;
  clock: Clock;
  log: Log;
}

/**
 * Calls the models of a chain until one answers: each a few times where that is safe, honouring what the server asks for. The signal's
 * abort rejects; every other failure is a value.
 */
export async function callModels(
  chain: readonly ModelSettings[],
  request: (settings: ModelSettings) => ModelRequest,
  listener: StreamListener,
  signal: AbortSignal,
  dependencies: ModelCallDependencies,
): Promise<ModelCallResult> {
  let last: ModelCallResult | null = null;
  for (const settings of chain) {
    if (last !== null && !last.ok) {
      listener.restarted(`${last.settings.alias} did not answer; ${settings.alias} takes over.`);
    }
    last = await callOne(settings, request(settings), listener, signal, dependencies);
    if (last.ok || !another(last.failure)) return last;
    dependencies.log.warn("model.gave_up", { alias: settings.alias, code: last.failure.code, detail: last.failure.detail });
  }
  if (last === null) throw new Error("A chain of models holds at least one.");
  return last;
}

/** Another model may do better, except where the conversation itself is the fault. */
function another(failure: ProviderFailure): boolean {
  return failure.code !== "model_context_overflow" && failure.code !== "model_content_filter";
}

class FailedAttempt extends Error {
  readonly failure: ProviderFailure;
  constructor(failure: ProviderFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

async function callOne(
  settings: ModelSettings,
  request: ModelRequest,
  listener: StreamListener,
  signal: AbortSignal,
  dependencies: ModelCallDependencies,
): Promise<ModelCallResult> {
  const { breakers, clock, log } = dependencies;
  if (!breakers.permits(settings.alias)) {
    return { ok: false, settings, failure: openCircuit(settings) };
  }
  const attempt = async (): Promise<ModelCallResult> => {
    const result = await streamOnce(settings, request, listener, signal, dependencies);
    signal.throwIfAborted();
    if (result.ok) return result;
    throw new FailedAttempt(result.failure);
  };
  try {
    const result = await pRetry(attempt, {
      retries: RETRIES_PER_MODEL,
      minTimeout: FIRST_RETRY_DELAY_MS,
      factor: 2,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof FailedAttempt && mayRetry(error.failure),
      onFailedAttempt: async ({ error, retriesLeft, retryDelay }) => {
        if (!(error instanceof FailedAttempt) || retriesLeft === 0 || !mayRetry(error.failure)) return;
        const { code, detail, message, retry_after_ms = 0 } = error.failure;
        log.info("model.retry", { alias: settings.alias, code, detail, retries_left: retriesLeft });
        listener.restarted(message);
        if (retry_after_ms > retryDelay) await clock.sleep(retry_after_ms - retryDelay, signal);
      },
    });
    breakers.succeeded(settings.alias);
    return result;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FailedAttempt)) throw error;
    if (error.failure.retryable) breakers.failed(settings.alias);
    return { ok: false, settings, failure: error.failure };
  }
}

function mayRetry(failure: ProviderFailure): boolean {
  return failure.retryable && (failure.retry_after_ms ?? 0) <= RETRY_AFTER_MAX_MS;
}

function openCircuit(settings: ModelSettings): ProviderFailure {
  return {
    code: "model_unreachable",
    message: `The model ${settings.alias} has failed several times in a row and is left alone for a minute; try again then.`,
    detail: "circuit open",
    retryable: false,
    retry_after_ms: 60_000,
  };
}

async function streamOnce(
  settings: ModelSettings,
  request: ModelRequest,
  listener: StreamListener,
  signal: AbortSignal,
  dependencies: ModelCallDependencies,
): Promise<ModelCallResult> {
  const provider = dependencies.providers.get(settings.provider);
  if (provider === undefined) throw new Error(`No provider is named ${settings.provider}; the configuration should have been refused.`);
  const calls: ToolCall[] = [];
  const expanded_tools: string[] = [];
  let content = "";
  let reasoning = "";
  for await (const event of provider.stream(request, signal)) {
    switch (event.type) {
      case "content":
        content += event.text;
        listener.content(event.text);
        break;
      case "reasoning":
        reasoning += event.text;
        listener.reasoning(event.text);
        break;
      case "tool_call":
        calls.push(event.call);
        break;
      case "info":
        listener.info(event.message);
        break;
      case "expanded_tools":
        expanded_tools.push(...event.names);
        break;
      case "ended": {
        const { stop_reason, usage, replay = null } = event;
        return { ok: true, answer: { settings, content, reasoning, calls, stop_reason, usage, replay, expanded_tools } };
      }
      case "failed":
        return { ok: false, settings, failure: event.failure };
    }
  }
  throw new Error(`The provider ${settings.provider} ended a stream without saying how.`);
}
