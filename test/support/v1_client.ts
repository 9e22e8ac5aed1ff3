import { createParser } from "eventsource-parser";

/** One frame of a stream: its `id` where it is kept, and what it says. */
export interface V1Frame {
  id: number | null;
  event: Record<string, unknown> & { type: string };
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/**
 * A client as somebody would write it who has only read how the HTTP API is described: nothing of the server's own code
 * is used. Answers that are not a success throw.
 */
export class V1Client {
  readonly #url: string;
  #bearer = "";

  constructor(url: string) {
    this.#url = url;
  }

  /** Signs in with a token; every further request carries the JWT that it brings. */
  async login(token: string): Promise<Record<string, unknown>> {
    const { body } = await this.call("POST", "/v1/api/auth/login", { token });
    this.#bearer = String(body["jwt"]);
    return body;
  }

  health = (): Promise<Answer> => this.call("GET", "/health");
  dashboard = (): Promise<Answer> => this.call("GET", "/v1/api/dashboard");
  create = (body: object): Promise<Answer> => this.call("POST", "/v1/api/workstreams/new", body);
  history = (ws_id: string): Promise<Answer> => this.call("GET", `/v1/api/workstreams/${ws_id}/history`);
  send = (ws_id: string, message: string): Promise<Answer> =>
    this.call("POST", `/v1/api/workstreams/${ws_id}/send`, { message });
  approve = (ws_id: string, body: object): Promise<Answer> =>
    this.call("POST", `/v1/api/workstreams/${ws_id}/approve`, body);
  cancel = (ws_id: string): Promise<Answer> => this.call("POST", `/v1/api/workstreams/${ws_id}/cancel`, {});

  async call(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: {
        ...(this.#bearer === "" ? {} : { authorization: `Bearer ${this.#bearer}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const read = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(read)}`);
    return { status: answer.status, body: read };
  }

  /** The frames of a workstream, from after `last_event_id` where it is given. Ends when the signal is aborted. */
  async *events(ws_id: string, signal: AbortSignal, last_event_id?: number): AsyncGenerator<V1Frame> {
    const answer = await fetch(`${this.#url}/v1/api/workstreams/${ws_id}/events`, {
      headers: {
        authorization: `Bearer ${this.#bearer}`,
        accept: "text/event-stream",
        ...(last_event_id === undefined ? {} : { "last-event-id": String(last_event_id) }),
      },
      signal,
    });
    if (!answer.ok || answer.body === null) throw new Error(`The stream answered ${answer.status}.`);
    const frames: V1Frame[] = [];
    const parser = createParser({
      onEvent: ({ id, data }) =>
        frames.push({ id: id === undefined ? null : Number(id), event: JSON.parse(data) as V1Frame["event"] }),
    });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* frames.splice(0);
    }
  }

  /** Says something and answers the text, once the workstream is idle again; `onAsked` decides what is asked for. */
  async sendAndWait(
    ws_id: string,
    message: string,
    onAsked: (request: V1Frame["event"]) => object = () => ({ approved: false }),
  ): Promise<string> {
    const stop = new AbortController();
    let text = "";
    let sent = false;
    let was_busy = false;
    try {
      for await (const { event } of this.events(ws_id, stop.signal)) {
        if (!sent && event.type === "connected") {
          sent = true;
          await this.send(ws_id, message);
        }
        if (event.type === "content") text += String(event["text"]);
        if (event.type === "approve_request") {
          await this.approve(ws_id, { cycle_id: event["cycle_id"], ...onAsked(event) });
        }
        if (event.type !== "ws_state") continue;
        if (event["state"] === "idle" && was_busy) return text;
        was_busy ||= event["state"] !== "idle";
      }
    } finally {
      stop.abort();
    }
    throw new Error("The stream ended before the answer did.");
  }
}
