/** What servers say of themselves is short. */
const ANSWER_BYTES_MAX = 1_048_576;
const TIMEOUT_MS = 15_000;
const REDIRECTS_MAX = 3;

/**
 * For what is asked on the way to a sign-in, at addresses that a server names: https, or plain http on this machine
 * where the server itself is on it, or the server's own origin. Redirects stay within their origin; answers are short.
 */
export function discoveryFetch(server_url: string): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const server = new URL(server_url);
  return async (url, init = {}) => {
    let target = new URL(url);
    const { origin } = target;
    if (!mayAsk(target, server)) throw new DiscoveryRefused(`${target.origin} is no address to sign in at.`);
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
      const response = await fetch(target, { ...init, signal, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) return short(response);
      await response.body?.cancel();
      target = new URL(location, target);
      if (target.origin !== origin || (init.method ?? "GET") !== "GET") break;
    }
    throw new DiscoveryRefused(`${origin} redirects to where nobody can sign in.`);
  };
}

/** A refusal of ours, in words for people. */
export class DiscoveryRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DiscoveryRefused";
  }
}

function mayAsk(target: URL, server: URL): boolean {
  if (target.origin === server.origin || target.protocol === "https:") return true;
  return target.protocol === "http:" && isLoopback(target) && isLoopback(server);
}

/** Whether an address means this machine, by its name alone. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** The whole answer, if it is a short one. */
async function short(response: Response): Promise<Response> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    size += piece.length;
    if (size > ANSWER_BYTES_MAX) throw new DiscoveryRefused("The answer of the sign-in server is too long.");
  }
  const { status, statusText, headers } = response;
  const is_empty = status === 204 || status === 304;
  return new Response(is_empty ? null : Buffer.concat(pieces), { status, statusText, headers });
}
