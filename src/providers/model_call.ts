import { createParser } from "eventsource-parser";
import { isJsonObject } from "../protocol/json.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ProviderEvent } from "../contracts/provider.ts";
import { MalformedAnswer, StreamStalled, failureFromServer, failureFromThrown, stopped } from "./failures.ts";
import type { CallStage } from "./failures.ts";
import { parseJson } from "./wire_text.ts";

/** Bytes of one answer: far above any model's longest, and a bound for a server gone mad. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Milliseconds that the end mark may take once the answer is whole: not every server sends one or hangs up. */
const END_MARK_WAIT_MS = 2000;

/** Reads the events of one wire format. */
export interface StreamFold {
  /**
   * `open`: more of the answer must come. `whole`: only counts or an end mark can follow, or nothing. `over`: nothing
   * follows.
   */
  readonly progress: "open" | "whole" | "over";
  /** Takes the data of one event and adds what it means to `out`. Throws {@link MalformedAnswer}. */
  push(data: JsonObject, out: ProviderEvent[]): void;
  /** Takes an answer that came whole although a stream was asked for. */
  pushWhole(body: JsonObject, out: ProviderEvent[]): void;
  /** Adds what was held back and the one last event. `marked`: whether the server said that it was done. */
  end(marked: boolean, out: ProviderEvent[]): void;
}

export interface ModelCall {
  signal: AbortSignal;
  stall_timeout_ms: number;
  api_key: string;
  /** Makes the body of the request. */
  prepare(): Promise<string>;
  /** Sends it. Rejects for a status that is not a success, with the vendor SDK's error. */
  send(body: string, signal: AbortSignal): Promise<Response>;
  fold: StreamFold;
}

/**
 * Runs one call to its single last event; never throws. Bytes count as life, comments too, so that a server that thinks
 * long but keeps the connection warm is not cut. What arrives together goes out together.
 */
export async function* runModelCall(call: ModelCall): AsyncGenerator<ProviderEvent, void, undefined> {
  const stopper = new AbortController();
  const stop = (): void => stopper.abort(call.signal.reason);
  call.signal.addEventListener("abort", stop, { once: true });
  if (call.signal.aborted) stop();
  const watchdog = new Watchdog(call.stall_timeout_ms, () => stopper.abort(new StreamStalled("no byte came in time")));
  let stage: CallStage = "preparing";
  try {
    const body = await watchdog.watch(call.prepare());
    stage = "sending";
    const response = await watchdog.watch(call.send(body, stopper.signal));
    stage = "answering";
    yield* readAnswer(response, call, watchdog);
  } catch (error) {
    if (call.signal.aborted) yield { type: "failed", failure: stopped() };
    else {
      const reason = stopper.signal.reason instanceof StreamStalled ? stopper.signal.reason : error;
      yield { type: "failed", failure: failureFromThrown(reason, stage, call.api_key) };
    }
  } finally {
    watchdog.stop();
    call.signal.removeEventListener("abort", stop);
  }
}

/** Adds text to the last event when it is of the same kind, so that a burst costs one event. */
export function addText(out: ProviderEvent[], type: "content" | "reasoning", text: string): void {
  if (text === "") return;
  const last = out.at(-1);
  if (last?.type === type) last.text += text;
  else out.push({ type, text });
}

async function* readAnswer(response: Response, call: ModelCall, watchdog: Watchdog): AsyncGenerator<ProviderEvent> {
  if (response.body === null) throw new MalformedAnswer("an answer without a body");
  const reader = response.body.getReader();
  const answer = new AnswerReader(call);
  try {
    while (!answer.done) {
      const chunk = await nextChunk(reader, call, watchdog);
      answer.take(chunk);
      const out = answer.out;
      answer.out = [];
      for (const event of out) {
        yield event;
        if (event.type === "failed" || event.type === "ended") return;
      }
    }
  } finally {
    if (answer.done) drain(reader);
    else hangUp(reader);
  }
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** The next bytes; null at the end. After a whole answer neither silence nor a broken connection is a failure. */
async function nextChunk(reader: BodyReader, call: ModelCall, watchdog: Watchdog): Promise<Uint8Array | null> {
  if (call.fold.progress === "open") return (await watchdog.watch(reader.read())).value ?? null;
  watchdog.shorten(END_MARK_WAIT_MS);
  try {
    return (await watchdog.watch(reader.read())).value ?? null;
  } catch (error) {
    if (call.signal.aborted) throw error;
    return null;
  }
}

/** Read to its end, a connection serves the next call. Nobody waits for it; a server with more to say is hung up on. */
function drain(reader: BodyReader): void {
  const timer = setTimeout(() => hangUp(reader), END_MARK_WAIT_MS).unref();
  const readOn = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  readOn()
    .catch(() => {}) // The answer is whole: how its connection ends concerns nobody.
    .finally(() => clearTimeout(timer));
}

function hangUp(reader: BodyReader): void {
  reader.cancel().catch(() => {}); // Already closed is as good.
}

/** Turns bytes into events of the call: server-sent events, or one JSON text from servers that do not stream. */
class AnswerReader {
  out: ProviderEvent[] = [];
  done = false;
  readonly #call: ModelCall;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: (event) => this.#takeData(event.data) });
  #format: "unknown" | "events" | "json" = "unknown";
  #held = "";
  #bytes = 0;
  #marked = false;

  constructor(call: ModelCall) {
    this.#call = call;
  }

  take(chunk: Uint8Array | null): void {
    if (chunk === null) {
      this.#finish();
      return;
    }
    this.#bytes += chunk.byteLength;
    if (this.#bytes > ANSWER_BYTES_MAX) throw new MalformedAnswer("an answer without end");
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#format === "events") this.#parser.feed(text);
    else this.#hold(text);
    if (this.#marked || this.#call.fold.progress === "over") this.#end(true);
  }

  /** What comes first tells the format; content types lie. */
  #hold(text: string): void {
    this.#held += text;
    const start = this.#held.trimStart();
    if (this.#format !== "unknown" || start === "") return;
    this.#format = start.startsWith("{") || start.startsWith("<") ? "json" : "events";
    if (this.#format === "events") this.#parser.feed(this.#held);
  }

  #takeData(data: string): void {
    if (this.done || this.#marked || this.#call.fold.progress === "over") return;
    if (data === "[DONE]") {
      this.#marked = true;
      return;
    }
    const parsed = parseJson(data);
    if (!isJsonObject(parsed)) throw new MalformedAnswer(`an event that is not a JSON object: ${data.slice(0, 500)}`);
    const error = errorOf(parsed);
    if (error === undefined) this.#call.fold.push(parsed, this.out);
    else this.#fail(error);
  }

  #finish(): void {
    if (this.#format === "json") {
      const body = parseJson(this.#held);
      if (!isJsonObject(body)) throw new MalformedAnswer(`an answer that is not JSON: ${this.#held.slice(0, 500)}`);
      const error = errorOf(body);
      if (error !== undefined) {
        this.#fail(error);
        return;
      }
      this.#call.fold.pushWhole(body, this.out);
    } else this.#parser.feed("\n\n");
    this.#end(this.#marked);
  }

  #end(marked: boolean): void {
    if (this.done) return;
    this.done = true;
    this.#call.fold.end(marked, this.out);
  }

  #fail(body: unknown): void {
    this.done = true;
    this.out.push({ type: "failed", failure: failureFromServer({ body, api_key: this.#call.api_key }) });
  }
}

/** Errors come as `{error: …}` (most servers), or as `{object: "error", message}` (older vLLM). */
function errorOf(body: JsonObject): unknown {
  if (body["error"] !== undefined && body["error"] !== null) return body["error"];
  return body["object"] === "error" ? body : undefined;
}

/** Notices silence. Time counts only while something is awaited: a slow consumer is not a silent server. */
class Watchdog {
  #timer: NodeJS.Timeout;
  #waiting = false;
  #waits = 0;
  readonly #onSilence: () => void;

  constructor(limit_ms: number, onSilence: () => void) {
    this.#onSilence = onSilence;
    this.#timer = this.#start(limit_ms);
  }

  async watch<T>(promise: Promise<T>): Promise<T> {
    this.#timer.refresh();
    this.#waiting = true;
    this.#waits += 1;
    try {
      return await promise;
    } finally {
      this.#waiting = false;
    }
  }

  shorten(limit_ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start(limit_ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(limit_ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const waits = this.#waits;
      // When our own process stood still, bytes may lie there unread: they are read before this runs.
      setImmediate(() => {
        if (this.#waiting && this.#waits === waits) this.#onSilence();
      });
    }, limit_ms);
  }
}
