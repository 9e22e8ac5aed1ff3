import pRetry from "p-retry";
import { isJsonObject, type JsonObject } from "../src/protocol/json.ts";
import { ACTOR_HEADER, ACTOR_ROLE_HEADER } from "../src/protocol/auth.ts";
import type { ChannelPerson } from "./channel_adapter.ts";
import type { ViewFile } from "./render/view.ts";

/** Longer than any route works, shorter than a person waits. */
const REQUEST_TIMEOUT_MS = 20_000;
const RETRIES = 4;
const RETRY_DELAY_MS = 250;
const RETRY_DELAY_MS_MAX = 4000;

/** What the server said. Status 0: it was not reached, or did not answer in time. */
export type ServerAnswer<Value> = { ok: true; value: Value } | ServerRefusal;

export interface ServerRefusal {
  ok: false;
  status: number;
  /** One sentence for people. */
  error: string;
  body: JsonObject;
}

export interface ServerRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  actor?: Actor | undefined;
  query?: Readonly<Record<string, string>> | undefined;
  json?: unknown;
  form?: FormData;
  /** Doing it twice is the same as doing it once, so it is tried again when the server is away. */
  repeatable: boolean;
}

/** The platform user for whom something is done, and what the roles there allow. */
export type Actor = Pick<ChannelPerson, "id" | "role">;

/** How requests are made: where to, as whom, until when. */
export interface ServerConnection {
  url: string;
  channel_type: string;
  token(): Promise<string>;
  signal: AbortSignal;
}

/** Says the answer's body as text; for downloads use `fetchRaw`. */
export async function request<Value>(
  connection: ServerConnection,
  wanted: ServerRequest,
): Promise<ServerAnswer<Value>> {
  const attempt = async (): Promise<ServerAnswer<Value>> => {
    const answer = await attemptOnce<Value>(connection, wanted);
    if (!answer.ok && wanted.repeatable && isPassing(answer.status)) throw new Unavailable(answer);
    return answer;
  };
  try {
    return await pRetry(attempt, {
      retries: wanted.repeatable ? RETRIES : 0,
      minTimeout: RETRY_DELAY_MS,
      maxTimeout: RETRY_DELAY_MS_MAX,
      signal: connection.signal,
      shouldRetry: ({ error }) => error instanceof Unavailable,
    });
  } catch (error) {
    if (error instanceof Unavailable) return error.answer;
    if (connection.signal.aborted) return unreachable("The gateway is stopping.");
    throw error;
  }
}

/** Fetches a file, named by the last part of the path that was asked for. */
export async function download(
  connection: ServerConnection,
  wanted: Omit<ServerRequest, "repeatable"> & { query: { path: string } },
): Promise<ServerAnswer<ViewFile>> {
  const signal = AbortSignal.any([connection.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
  try {
    const response = await fetchRaw(connection, { ...wanted, repeatable: true }, signal);
    if (!response.ok) return refusalOf(response.status, parseBody(await response.text()));
    const name = wanted.query.path.split("/").findLast((part) => part !== "") ?? "file";
    return { ok: true, value: { name, bytes: new Uint8Array(await response.arrayBuffer()) } };
  } catch {
    return unreachable("The server cannot be reached. Try again in a moment.");
  }
}

/** One request without retries, its answer as the platform gives it. */
export async function fetchRaw(
  connection: ServerConnection,
  wanted: ServerRequest,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(connection.url + wanted.path);
  for (const [name, value] of Object.entries(wanted.query ?? {})) url.searchParams.set(name, value);
  const headers: Record<string, string> = { authorization: `Bearer ${await connection.token()}` };
  if (wanted.actor !== undefined) {
    headers[ACTOR_HEADER] = `${connection.channel_type}:${wanted.actor.id}`;
    if (wanted.actor.role !== null) headers[ACTOR_ROLE_HEADER] = wanted.actor.role;
  }
  if (wanted.json !== undefined) headers["content-type"] = "application/json";
  const body = wanted.form ?? (wanted.json === undefined ? null : JSON.stringify(wanted.json));
  return fetch(url, { method: wanted.method, headers, body, signal });
}

class Unavailable extends Error {
  readonly answer: ServerRefusal;

  constructor(answer: ServerRefusal) {
    super(answer.error);
    this.answer = answer;
  }
}

async function attemptOnce<Value>(connection: ServerConnection, wanted: ServerRequest): Promise<ServerAnswer<Value>> {
  const signal = AbortSignal.any([connection.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
  let response: Response;
  let text: string;
  try {
    response = await fetchRaw(connection, wanted, signal);
    text = await response.text();
  } catch {
    return unreachable("The server cannot be reached. Try again in a moment.");
  }
  const body = parseBody(text);
  // The types are the server's promise; it is our own program, so its answers are not checked a second time.
  if (response.ok) return { ok: true, value: body as Value };
  return refusalOf(response.status, body);
}

function refusalOf(status: number, body: unknown): ServerRefusal {
  const said =
    isJsonObject(body) && typeof body["error"] === "string" ? body["error"] : `The server answered ${status}.`;
  return { ok: false, status, error: said, body: isJsonObject(body) ? body : {} };
}

function parseBody(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Away, restarting or busy, and likely to be back. */
function isPassing(status: number): boolean {
  return status === 0 || status === 429 || status === 502 || status === 503 || status === 504;
}

function unreachable(error: string): ServerRefusal {
  return { ok: false, status: 0, error, body: {} };
}
