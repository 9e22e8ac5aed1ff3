import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicWire } from "./anthropic_wire.ts";
import { chatWire } from "./chat_wire.ts";
import { reply as asReply } from "./reply.ts";
import type { Reply } from "./reply.ts";
import { responsesWire } from "./responses_wire.ts";
import { sendReply } from "./send.ts";
import { isRecord, listIn } from "./wire.ts";
import type { Wire, WireName } from "./wire.ts";

/** What a request for a title gets where nothing else is said. */
export const GIVEN_TITLE = "A title";

/** One request that the server got. */
export interface RecordedRequest {
  wire: WireName;
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  raw_body: string;
  /** What a strict server would refuse, in words. */
  problems: string[];
  system_text: string;
  first_user_text: string;
  last_user_text: string;
  /** Names of the tools that the model may use; tools of the vendor's own without a name by their type. */
  tool_names: string[];
  /** `performance.now()` when the whole request was there. */
  received_at: number;
  /** `performance.now()` of each piece of text or reasoning, as it was written. */
  tokens_sent_at: number[];
  /** Settles when the exchange is over: whether the client got all that was meant for it. */
  ended: Promise<"answered" | "client_hung_up">;
}

/** Decides what is said to a request. */
export type Script = (request: RecordedRequest) => Reply;

export interface ModelServerOptions {
  /** Names for `GET /v1/models`. */
  models?: string[];
  /** Whether a request with problems is answered with 400, as a real server would. Default: yes. */
  strict?: boolean;
  /** Milliseconds between tokens where a reply does not say. */
  pace_ms?: number;
  /**
   * What a request for a title gets, whatever the script. Titles are asked for beside the conversation, at no certain
   * time, and would else take its replies. Null: they are part of the script.
   */
  title?: string | null;
  port?: number;
}

export interface ModelServer {
  /** For OpenAI formats, with `/v1`. */
  readonly base_url: string;
  /** For Anthropic, without `/v1`. */
  readonly anthropic_base_url: string;
  /** All but those for titles. */
  readonly requests: readonly RecordedRequest[];
  readonly title_requests: readonly RecordedRequest[];
  /** Problems of all requests so far, those for titles too. */
  readonly problems: readonly string[];
  /** Adds replies to be given one after the other, or sets a function that answers whatever no reply is left for. */
  script(script: readonly Reply[] | Script): void;
  /**
   * A script of its own for requests whose first message from a person holds a text, or that a function picks; asked
   * before the general one.
   */
  conversation(which: string | ((request: RecordedRequest) => boolean), script: readonly Reply[] | Script): void;
  /** The next request in order of arrival that this was not asked for before; waits for it. */
  nextRequest(): Promise<RecordedRequest>;
  /** Hangs up on everybody and stops. */
  close(): Promise<void>;
}

interface Lane {
  matches: (request: RecordedRequest) => boolean;
  replies: Reply[];
  script: Script | null;
}

const WIRES: readonly Wire[] = [chatWire, responsesWire, anthropicWire];

/** Starts a server that plays the model: real HTTP on loopback, three wire formats, every request kept and checked. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const title_requests: RecordedRequest[] = [];
  const title = options.title === undefined ? GIVEN_TITLE : options.title;
  const general: Lane = { matches: () => true, replies: [], script: null };
  const lanes: Lane[] = [];
  const waiting: ((request: RecordedRequest) => void)[] = [];
  let handed = 0;

  const record = (request: RecordedRequest): void => {
    if (title !== null && asksForTitle(request)) {
      title_requests.push(request);
      return;
    }
    requests.push(request);
    const waiter = waiting.shift();
    if (waiter === undefined) return;
    handed += 1;
    waiter(request);
  };

  const replyTo = (request: RecordedRequest): Reply => {
    if (title !== null && asksForTitle(request)) return asReply.text(title);
    const own = lanes.find((lane) => lane.matches(request) && hasMore(lane));
    const lane = own ?? general;
    const reply = lane.replies.shift() ?? lane.script?.(request);
    if (reply !== undefined) return reply;
    const error = { message: `The script has no reply for: ${request.last_user_text.slice(0, 200)}`, type: "script" };
    return { kind: "status", status: 500, headers: {}, body: JSON.stringify({ error }) };
  };

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing, options, record, replyTo).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  await listen(server, options.port ?? 0);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    base_url: `${origin}/v1`,
    anthropic_base_url: origin,
    requests,
    title_requests,
    get problems() {
      return [...requests, ...title_requests].flatMap((request) => request.problems);
    },
    script: (script) => fill(general, script),
    conversation(which, script) {
      const matches = typeof which === "function" ? which : opensWith(which);
      const lane: Lane = { matches, replies: [], script: null };
      fill(lane, script);
      lanes.push(lane);
    },
    nextRequest() {
      const next = requests[handed];
      if (next === undefined) return new Promise((resolve) => waiting.push(resolve));
      handed += 1;
      return Promise.resolve(next);
    },
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

async function handle(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ModelServerOptions,
  record: (request: RecordedRequest) => void,
  replyTo: (request: RecordedRequest) => Reply,
): Promise<void> {
  outgoing.socket?.setNoDelay(true);
  const path = (incoming.url ?? "").split("?")[0] ?? "";
  if (incoming.method === "GET" && path === "/v1/models") {
    const data = (options.models ?? ["scripted-model"]).map((id) => ({
      id,
      object: "model",
      type: "model",
      display_name: id,
    }));
    sendJson(outgoing, 200, { object: "list", data, has_more: false, first_id: null, last_id: null });
    return;
  }
  const wire = WIRES.find((one) => one.path === path);
  if (incoming.method !== "POST" || wire === undefined) {
    sendJson(outgoing, 404, { error: { message: `There is no ${path} here.`, type: "not_found_error" } });
    return;
  }
  const raw_body = await readBody(incoming);
  const request = describe(wire, incoming, path, raw_body, outgoing);
  record(request);
  if (options.strict !== false && request.problems.length > 0) {
    sendJson(outgoing, 400, { error: { message: request.problems.join("; "), type: "invalid_request_error" } });
    return;
  }
  await sendReply(replyTo(request), { wire, request, outgoing, pace_ms: options.pace_ms ?? 0 });
}

function describe(
  wire: Wire,
  incoming: IncomingMessage,
  path: string,
  raw_body: string,
  outgoing: ServerResponse,
): RecordedRequest {
  const body = parseBody(raw_body);
  return {
    wire: wire.name,
    path,
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    body,
    raw_body,
    problems: wire.problems(body),
    system_text: wire.systemText(body),
    tool_names: listIn(body["tools"]).map(toolName),
    first_user_text: wire.firstUserText(body),
    last_user_text: wire.lastUserText(body),
    received_at: performance.now(),
    tokens_sent_at: [],
    ended: new Promise((resolve) =>
      outgoing.once("close", () => resolve(outgoing.writableFinished ? "answered" : "client_hung_up")),
    ),
  };
}

function opensWith(text: string): (request: RecordedRequest) => boolean {
  return (request) => request.first_user_text.includes(text);
}

/** No tools, a short answer and a word in the system text: what every agent that gives titles sends. */
function asksForTitle(request: RecordedRequest): boolean {
  return request.tool_names.length === 0 && /\btitle\b/i.test(request.system_text);
}

function toolName(tool: Record<string, unknown>): string {
  const named = isRecord(tool["function"]) ? tool["function"] : tool;
  return typeof named["name"] === "string" ? named["name"] : String(tool["type"]);
}

function parseBody(text: string): Record<string, unknown> {
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) throw new Error("The body of a request is not a JSON object.");
  return body;
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function fill(lane: Lane, script: readonly Reply[] | Script): void {
  if (typeof script === "function") lane.script = script;
  else lane.replies.push(...script);
}

function hasMore(lane: Lane): boolean {
  return lane.replies.length > 0 || lane.script !== null;
}

function sendJson(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}
