import { EventSourceParserStream } from "eventsource-parser/stream";
import type { ApproveBody } from "../../protocol/approval.ts";
import type { McpRequestAnswer, McpRequestBody } from "../../protocol/mcp_request.ts";
import { PATHS, pathOf } from "../../protocol/paths.ts";
import type { HistoryAnswer, NewWorkstreamAnswer, SendAnswer } from "../../protocol/workstream.ts";
import type { ShownEvent } from "./transcript.ts";

/** What the server answered, or why it did not in a sentence for people. */
export type Answer<T> = { ok: true; value: T } | { ok: false; error: string };

/** One event of a workstream's stream; kept ones have an id to resume from. */
export interface StreamEvent {
  event: ShownEvent;
  id: string | undefined;
}

/** The routes of the server that a terminal client uses. */
export interface ChatClient {
  open(resume: string | null): Promise<Answer<NewWorkstreamAnswer>>;
  history(ws_id: string, limit: number): Promise<Answer<HistoryAnswer>>;
  send(ws_id: string, message: string, client_send_id: string): Promise<Answer<SendAnswer>>;
  approve(ws_id: string, body: ApproveBody): Promise<Answer<unknown>>;
  review(ws_id: string, review_id: string, feedback: string): Promise<Answer<unknown>>;
  answerMcpRequest(ws_id: string, request_id: string, body: McpRequestBody): Promise<Answer<McpRequestAnswer>>;
  cancel(ws_id: string): Promise<Answer<unknown>>;
  command(ws_id: string, command: string): Promise<Answer<unknown>>;
  /** Ends when the connection does; throws where there is none. */
  events(ws_id: string, after: string, signal: AbortSignal): AsyncIterable<StreamEvent>;
}

// A request does no more than write a row; a server that needs longer is not there.
const REQUEST_TIMEOUT_MS = 15_000;

/** A client of the server at `url`, acting with `token`. */
export function createChatClient(url: string, token: string): ChatClient {
  const headers = { authorization: `Bearer ${token}` };
  const request = async <T>(method: string, path: string, body?: unknown): Promise<Answer<T>> => {
    const options = { method, headers: { ...headers, "content-type": "application/json" } };
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${url}${path}`, { ...options, ...sent, signal });
      const content: unknown = await response.json();
      return response.ok ? { ok: true, value: content as T } : { ok: false, error: errorOf(content, response.status) };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { ok: false, error: `The server at ${url} does not answer; start it with turnstone start.` };
    }
  };
  const at = (template: string, ws_id: string): string => pathOf(template, { ws_id });
  return {
    open: (resume) => request("POST", PATHS.workstreams_new, resume === null ? {} : { resume_ws: resume }),
    history: (ws_id, limit) => request("GET", `${at(PATHS.history, ws_id)}?limit=${limit}`),
    send: (ws_id, message, client_send_id) => request("POST", at(PATHS.send, ws_id), { message, client_send_id }),
    approve: (ws_id, body) => request("POST", at(PATHS.approve, ws_id), body),
    review: (ws_id, review_id, feedback) => request("POST", at(PATHS.plan, ws_id), { review_id, feedback }),
    answerMcpRequest: (ws_id, request_id, body) =>
      request("POST", pathOf(PATHS.mcp_request, { ws_id, request_id }), body),
    cancel: (ws_id) => request("POST", at(PATHS.cancel, ws_id), {}),
    command: (ws_id, command) => request("POST", PATHS.command, { ws_id, command }),
    async *events(ws_id, after, signal) {
      const response = await fetch(`${url}${at(PATHS.events, ws_id)}`, {
        headers: { ...headers, accept: "text/event-stream", "last-event-id": after },
        signal,
      });
      if (!response.ok || response.body === null) throw new Error(`The event stream answered ${response.status}.`);
      const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const frame of frames) yield { event: JSON.parse(frame.data) as ShownEvent, id: frame.id };
    },
  };
}

function errorOf(content: unknown, status: number): string {
  const named = typeof content === "object" && content !== null && "error" in content ? content.error : null;
  return typeof named === "string" ? named : `The server answered ${status}.`;
}
