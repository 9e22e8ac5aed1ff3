import pRetry from "p-retry";
import type { ModelRequest, ModelSettings, Provider, ProviderFailure } from "../contracts/provider.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { ReplayBlocks, StopReason, ToolCall, Usage } from "../protocol/message.ts";
import type { Breakers } from "./breaker.ts";

/** Attempts with one model before the next of the chain is tried. */
const RETRIES_PER_MODEL = 3;

/**
 * The first wait; each further one is twice as long, and up to double of that, so that many callers do not come back
 * at once.
 */
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

export type ModelCallResult =
  | { ok: true; answer: ModelAnswer }
  | { ok: false; failure: ProviderFailure; settings: ModelSettings };

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
 * Calls the models of a chain until one answers: each a few times where that is safe, honouring what the server asks
 * for. The signal's abort rejects; every other failure is a value.
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
    dependencies.log.warn("model.gave_up", {
      alias: settings.alias,
      code: last.failure.code,
      detail: last.failure.detail,
    });
  }
  if (last === null) throw new Error("A chain of models holds at least one.");
  return last.ok || chain.length === 1 ? last : { ...last, failure: failureOfAll(chain, last.failure) };
}

/** Who hears of the last failure alone would look for it at the wrong model. */
function failureOfAll(chain: readonly ModelSettings[], last: ProviderFailure): ProviderFailure {
  const names = chain.map(({ alias }) => alias).join(", ");
  return { ...last, message: `None of the models answered (${names}); the last one said: ${last.message}` };
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
    return { ok: false, settings, failure: openCircuit(settings, breakers.waitMs(settings.alias)) };
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
      // The waiting is done below, by the clock that tests set.
      minTimeout: 0,
      signal,
      shouldRetry: ({ error }) => error instanceof FailedAttempt && mayRetry(error.failure),
      onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
        if (!(error instanceof FailedAttempt) || retriesLeft === 0 || !mayRetry(error.failure)) return;
        const { code, detail, message } = error.failure;
        const delay_ms = delayBefore(error.failure, attemptNumber);
        log.info("model.retry", { alias: settings.alias, code, detail, delay_ms, retries_left: retriesLeft });
        listener.restarted(`${firstSentence(message)} Trying again in ${inWords(delay_ms)}.`);
        await clock.sleep(delay_ms, signal);
      },
    });
    breakers.succeeded(settings.alias);
    return result;
  } catch (error) {
    if (signal.aborted || !(error instanceof FailedAttempt) || !error.failure.retryable) {
      breakers.undecided(settings.alias);
    }
    signal.throwIfAborted();
    if (!(error instanceof FailedAttempt)) throw error;
    if (error.failure.retryable) breakers.failed(settings.alias);
    return { ok: false, settings, failure: error.failure };
  }
}

function mayRetry(failure: ProviderFailure): boolean {
  return failure.retryable && (failure.retry_after_ms ?? 0) <= RETRY_AFTER_MAX_MS;
}

/** What the server asks for, but never less than our own patience: a server that says 0 would be hammered. */
function delayBefore({ retry_after_ms = 0 }: ProviderFailure, attempt: number): number {
  const own = FIRST_RETRY_DELAY_MS * 2 ** (attempt - 1) * (1 + Math.random());
  return Math.round(Math.max(retry_after_ms, own));
}

/** The failure without its advice to a person, who need not do anything yet. */
function firstSentence(message: string): string {
  return /^.*?\.(?= |$)/.exec(message)?.[0] ?? message;
}

function inWords(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds === 1 ? "a second" : `${seconds} seconds`;
}

function openCircuit({ alias }: ModelSettings, wait_ms: number): ProviderFailure {
  return {
    code: "model_unreachable",
    message: `The model ${alias} has failed several times in a row and is left alone for now. Try again in ${inWords(wait_ms)}.`,
    detail: "circuit open",
    retryable: false,
    retry_after_ms: wait_ms,
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
  if (provider === undefined) {
    throw new Error(`No provider is named ${settings.provider}; the configuration should have been refused.`);
  }
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
        return {
          ok: true,
          answer: { settings, content, reasoning, calls, stop_reason, usage, replay, expanded_tools },
        };
      }
      case "failed":
        return { ok: false, settings, failure: event.failure };
    }
  }
  throw new Error(`The provider ${settings.provider} ended a stream without saying how.`);
}
