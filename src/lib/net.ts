import { lookup } from "node:dns/promises";
import { STATUS_CODES } from "node:http";
import { isIP } from "node:net";
import { callbackify } from "node:util";
import type { Agent, Response, buildConnector } from "undici";
import { checkUrl, openedEndpoints, refusalOf } from "./web_url.ts";

/** Shorteners and log-ins take two or three hops; more is a loop or a maze. */
const REDIRECTS_MAX = 5;

/** For all hops together, from the first name looked up to the last byte. */
const TOTAL_MS = 30_000;

/** Of decoded text. A book has one or two; what is larger is a data set or a bomb. */
const BODY_BYTES_MAX = 10 * 1024 * 1024;

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const HEADERS = {
  "user-agent": "turnstone/1.0",
  accept: "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.9, */*;q=0.1",
};

export interface FetchOptions {
  /** `host:port` of private hosts that may be reached. */
  allow_private?: readonly string[];
  /** All addresses of a name; the system's resolver where absent. */
  resolve?: (host: string) => Promise<readonly string[]>;
  /**
   * Where the socket goes for an address that has passed; to itself where absent. A test's public site is on
   * loopback.
   */
  dial?: (address: string) => string;
  /** Milliseconds in all; 30 s where absent. */
  total_ms?: number;
}

/** A page's bytes as its server gave them, but for the compression, or one sentence on why there are none. */
export type Fetched =
  | {
      ok: true;
      /** After redirects. */
      url: string;
      /** In lower case, without parameters. */
      media_type: string;
      /** The charset that the header names. */
      charset: string | null;
      bytes: Uint8Array<ArrayBuffer>;
      /** Whether more than the limit came, and was left out. */
      truncated: boolean;
    }
  | { ok: false; error: string };

/**
 * Gets a text from a public host, or from a private one that the options name. The address that is judged is the one
 * that the socket connects to, for each redirect anew: neither a changing DNS answer nor a redirect leads inside. A
 * page cannot send on to a private host, named or not. Proxies that the environment names are not used.
 */
export async function guardedFetch(url: string, options: FetchOptions, signal: AbortSignal): Promise<Fetched> {
  const timeout = AbortSignal.timeout(options.total_ms ?? TOTAL_MS);
  const either = AbortSignal.any([signal, timeout]);
  try {
    return await followRedirects(url, options, either);
  } catch (error) {
    if (signal.aborted) return failure("Fetching was cancelled.");
    if (timeout.aborted) {
      return failure(`The page did not arrive within ${(options.total_ms ?? TOTAL_MS) / 1000} s, so it was given up.`);
    }
    return failure(describeFailure(error));
  }
}

async function followRedirects(first_url: string, options: FetchOptions, signal: AbortSignal): Promise<Fetched> {
  let opened = openedEndpoints(options.allow_private ?? []);
  let next = first_url;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const checked = checkUrl(next, opened);
    if (!checked.ok) return failure(hop === 0 ? checked.error : `A redirect was not followed: ${checked.error}`);
    const step = await takeHop(checked.url, checked.opened, options, signal);
    if ("ok" in step) return step;
    if (!checked.opened) opened = new Set();
    next = step.redirect;
  }
  return failure(`${first_url} redirects more than ${REDIRECTS_MAX} times. Try the address that it should lead to.`);
}

async function takeHop(
  url: URL,
  opened: boolean,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<Fetched | { redirect: string }> {
  const undici = await import("undici");
  // An agent for one request: a connection is never reused by a hop that did not judge it.
  const agent: Agent = new undici.Agent({ connect: guardedConnector(undici.buildConnector, opened, options) });
  try {
    const response = await undici.fetch(url, { dispatcher: agent, redirect: "manual", headers: HEADERS, signal });
    const location = response.headers.get("location");
    if (REDIRECT_STATUSES.has(response.status) && location !== null) {
      const target = URL.parse(location, url.href);
      return target === null ? failure("The page redirects to something that is no URL.") : { redirect: target.href };
    }
    return await readResponse(url, response);
  } finally {
    await agent.destroy();
  }
}

/** Thrown inside a connection attempt; its message is for people. */
class RefusedError extends Error {
  override name = "RefusedError";
}

/** A connector that looks a host up, judges every address, and lets the socket choose among these only. */
function guardedConnector(
  build: typeof buildConnector,
  opened: boolean,
  options: FetchOptions,
): buildConnector.connector {
  const dial = options.dial ?? ((address: string) => address);
  const judge = callbackify(judgedAddresses);
  return (target, callback) => {
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
    judge(host, opened, options, (error, addresses) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const dialled = addresses.map(dial).map((address) => ({ address, family: isIP(address) }));
      // Node asks for all of them, and tries one after the other until one answers.
      const connect = build({ allowH2: false, lookup: (_host, _options, found) => found(null, dialled) });
      connect(isIP(host) === 0 ? target : { ...target, hostname: dial(host) }, callback);
    });
  };
}

/** The addresses of a host when all may be reached; throws a `RefusedError` when one may not. */
async function judgedAddresses(host: string, opened: boolean, options: FetchOptions): Promise<readonly string[]> {
  const addresses = await addressesOf(host, options);
  const refusal = refusalOf(host, addresses, opened);
  if (refusal !== null) throw new RefusedError(refusal);
  return addresses;
}

async function addressesOf(host: string, options: FetchOptions): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    return await (options.resolve ?? systemAddresses)(host);
  } catch (cause) {
    throw new RefusedError(`The name ${host} could not be looked up. Check its spelling, or try again later.`, {
      cause,
    });
  }
}

async function systemAddresses(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map((entry) => entry.address);
}

async function readResponse(url: URL, response: Response): Promise<Fetched> {
  if (!response.ok) {
    const name = STATUS_CODES[response.status];
    return failure(`${url.host} answered ${response.status}${name === undefined ? "" : ` ${name}`} for ${url.href}.`);
  }
  const content_type = response.headers.get("content-type") ?? "";
  const media_type = (content_type.split(/[;,]/)[0] ?? "").trim().toLowerCase();
  if (!isText(media_type)) return failure(describeBinary(media_type, response.headers.get("content-length")));
  const { bytes, truncated } = await readBody(response);
  const charset = /;\s*charset\s*=\s*"?([^\s";,]+)/i.exec(content_type)?.[1] ?? null;
  return { ok: true, url: url.href, media_type, charset, bytes, truncated };
}

/** Stops at the limit: the rest is neither received nor unpacked. */
async function readBody(response: Response): Promise<{ bytes: Uint8Array<ArrayBuffer>; truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    const piece: Uint8Array = chunk;
    chunks.push(piece);
    length += piece.byteLength;
    if (length > BODY_BYTES_MAX) break;
  }
  const bytes = new Uint8Array(Math.min(length, BODY_BYTES_MAX));
  let offset = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - offset);
    bytes.set(part, offset);
    offset += part.length;
  }
  return { bytes, truncated: length > BODY_BYTES_MAX };
}

const TEXT_APPLICATIONS: ReadonlySet<string> = new Set(
  "ecmascript graphql javascript json jsonl sql toml x-javascript x-ndjson x-sh x-tex x-yaml xml yaml".split(" "),
);

function isText(media_type: string): boolean {
  const [, group = "", kind = ""] = /^(\w+)\/(.+)$/.exec(media_type) ?? [];
  // RFC 6839: what stands after the plus sign says what it is written in, pictures in SVG among them.
  return (
    group === "text" || /\+(?:json|xml|yaml)$/.test(kind) || (group === "application" && TEXT_APPLICATIONS.has(kind))
  );
}

function describeBinary(media_type: string, length: string | null): string {
  const size = length !== null && /^\d+$/.test(length) ? ` of ${Number(length).toLocaleString("en-US")} bytes` : "";
  if (media_type === "") {
    return `The server does not say what kind of content this is${size}, so it is not read as text.`;
  }
  const download = "If a file is wanted, download it with bash.";
  return `This is ${media_type.slice(0, 100)}${size}, not text, so it cannot be read. ${download}`;
}

/** Causes by their code, as Node and undici name them. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at that address",
  ECONNRESET: "the connection was closed",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "the host did not answer",
  UND_ERR_CONNECT_TIMEOUT: "the host did not answer",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_HEADERS_OVERFLOW: "its headers are too long",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
};

function describeFailure(error: unknown): string {
  const causes = causesOf(error);
  const refusal = causes.find((cause) => cause instanceof RefusedError);
  if (refusal !== undefined) return refusal.message;
  for (const cause of causes) {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    const known = Object.hasOwn(CAUSES, code) ? CAUSES[code] : undefined;
    if (known !== undefined) return `The page could not be fetched: ${known}.`;
    if (/^(?:Z_|ERR_(?:BROTLI|ZSTD))/.test(code)) return "The page is compressed in a way that cannot be unpacked.";
  }
  return `The page could not be fetched: ${causes.at(-1)?.message.slice(0, 200) ?? "for an unknown reason"}.`;
}

/** The error and what lies behind it; attempts at several addresses count one by one. */
function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(causesOf) : [];
  return [error, ...inner, ...causesOf(error.cause)];
}

function failure(error: string): Extract<Fetched, { ok: false }> {
  return { ok: false, error };
}
