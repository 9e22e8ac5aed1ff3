/** What a scripted model says, in words that fit every wire format. */

export interface ScriptedCall {
  name: string;
  /** An object is written as JSON; a string goes out as it is, so that it can be broken. */
  arguments: Record<string, unknown> | string;
  /** Made up where absent. */
  id?: string;
}

/** How a chat-completions server divides calls into deltas. The other wire formats have one way. */
export type CallChunking =
  /** Id and name first, then arguments in pieces, each labelled with the call's index: the documented form. */
  | "documented"
  /** Each call in one delta. */
  | "whole"
  | "no_index"
  /** Every call labelled 0, one after the other. */
  | "all_index_0"
  /** Id and name in every piece. */
  | "repeated_id"
  | "empty_ids"
  /** The calls' pieces take turns. */
  | "interleaved";

export interface Framing {
  crlf?: boolean;
  /** Comment lines between the events. */
  comments?: boolean;
  /** `data:` without a space. */
  no_space?: boolean;
  /** Bytes go out a few at a time, so that characters are cut apart. */
  split_bytes?: boolean;
  /** No end mark. */
  no_done?: boolean;
}

export interface ScriptedUsage {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
}

export type ScriptedFinish = "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause";

export interface AnswerOptions {
  text?: string;
  /** Pieces of the text: how many, or which. Words where absent. */
  chunks?: number | readonly string[];
  reasoning?: string;
  /** The field of chat completions that carries the reasoning. */
  reasoning_field?: "reasoning_content" | "reasoning";
  calls?: readonly ScriptedCall[];
  chunking?: CallChunking;
  /** Null: the answer ends without saying why. Follows from the calls where absent. */
  finish?: ScriptedFinish | null;
  usage?: ScriptedUsage | null;
  /** Where chat completions tell the usage: in a last chunk without choices, or in every chunk. */
  usage_in?: "last_chunk" | "every_chunk";
  /** Milliseconds between tokens, by an absolute schedule. */
  pace_ms?: number;
  framing?: Framing;
  /** Comments before the first frame, as a server sends them while a model thinks long. */
  warm_up?: { comments: number; every_ms: number };
  /** Sources that a provider's own search names. */
  citations?: readonly { url: string; title: string }[];
  /** A query of the provider's own search, made before the text. Anthropic and Responses only. */
  web_search?: string;
  /** Tools that the provider's own tool search finds. Anthropic and Responses only. */
  tool_search?: readonly string[];
}

export type Reply =
  | { kind: "answer"; answer: AnswerOptions; ending: Ending }
  | { kind: "status"; status: number; headers: Record<string, string>; body: string }
  /** The bytes as they are. */
  | { kind: "raw"; pieces: readonly (string | Uint8Array)[]; content_type: string; ending: "end" | "reset" }
  /** Nothing at all until the client hangs up. */
  | { kind: "silence" }
  /** Hangs up before answering. */
  | { kind: "hang_up" }
  /** Waits for something, then answers. */
  | { kind: "gate"; opened: Promise<void>; reply: Reply };

/** What happens after the frames of an answer, or after the first few of them. */
export type Ending =
  | { kind: "whole" }
  | { kind: "reset"; after_frames: number }
  | { kind: "end"; after_frames: number }
  /** Silence until the client hangs up; a comment every `keep_alive_ms` where given. */
  | { kind: "stall"; after_frames: number; keep_alive_ms?: number }
  | { kind: "error"; after_frames: number; error: Record<string, unknown> };

const WHOLE: Ending = { kind: "whole" };

/** Builders of replies: a script reads as what the model does. */
export const reply = {
  text(text: string, options: Omit<AnswerOptions, "text"> = {}): Reply {
    return { kind: "answer", answer: { text, ...options }, ending: WHOLE };
  },
  toolCalls(calls: readonly ScriptedCall[], options: Omit<AnswerOptions, "calls"> = {}): Reply {
    return { kind: "answer", answer: { calls, ...options }, ending: WHOLE };
  },
  /** Stops with neither words nor calls. */
  empty(options: AnswerOptions = {}): Reply {
    return { kind: "answer", answer: options, ending: WHOLE };
  },
  /** A status that is not a success. `retry_after` is seconds, or the header's text. */
  status(
    status: number,
    options: { retry_after?: number | string; message?: string; type?: string; code?: string; body?: string } = {},
  ): Reply {
    const error = {
      message: options.message ?? `status ${status}`,
      type: options.type ?? "error",
      code: options.code ?? null,
    };
    return {
      kind: "status",
      status,
      headers: options.retry_after === undefined ? {} : { "retry-after": String(options.retry_after) },
      body: options.body ?? JSON.stringify({ error }),
    };
  },
  /** The connection breaks (`reset`), or ends as if all were well (`end`), after some frames of an answer. */
  cut(answer: AnswerOptions, options: { after_frames: number; how?: "reset" | "end" }): Reply {
    return { kind: "answer", answer, ending: { kind: options.how ?? "reset", after_frames: options.after_frames } };
  },
  /** Says some of an answer, then nothing more. Without an answer: nothing from the start. */
  stall(answer?: AnswerOptions, options: { after_frames?: number; keep_alive_ms?: number } = {}): Reply {
    if (answer === undefined) return { kind: "silence" };
    const { after_frames = 2, ...rest } = options;
    return { kind: "answer", answer, ending: { kind: "stall", after_frames, ...rest } };
  },
  /** Status 200 with an error: as the whole JSON body, or after some frames of an answer. */
  errorInside200(
    error: Record<string, unknown>,
    options: { after?: AnswerOptions; after_frames?: number } = {},
  ): Reply {
    if (options.after === undefined) {
      return { kind: "raw", pieces: [JSON.stringify({ error })], content_type: "application/json", ending: "end" };
    }
    return {
      kind: "answer",
      answer: options.after,
      ending: { kind: "error", after_frames: options.after_frames ?? 2, error },
    };
  },
  raw(
    pieces: readonly (string | Uint8Array)[],
    options: { content_type?: string; ending?: "end" | "reset" } = {},
  ): Reply {
    return {
      kind: "raw",
      pieces,
      content_type: options.content_type ?? "text/event-stream",
      ending: options.ending ?? "end",
    };
  },
  hangUp(): Reply {
    return { kind: "hang_up" };
  },
  /** A reply that waits until `open()` is called. */
  gate(reply: Reply): { reply: Reply; open: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { reply: { kind: "gate", opened: promise, reply }, open: resolve };
  },
};

/** The pieces in which a text is streamed: words with the space before them unless told otherwise. */
export function piecesOf(text: string, chunks: number | readonly string[] | undefined): string[] {
  if (Array.isArray(chunks)) return [...chunks];
  if (typeof chunks === "number") {
    const size = Math.max(1, Math.ceil(text.length / chunks));
    return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.slice(index * size, (index + 1) * size),
    );
  }
  return text.match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? [];
}

export function argumentsTextOf(call: ScriptedCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

/** Why an answer ends, as it follows from what it holds. */
export function finishOf(answer: AnswerOptions): ScriptedFinish | null {
  if (answer.finish !== undefined) return answer.finish;
  return (answer.calls ?? []).length > 0 ? "tool_calls" : "stop";
}
