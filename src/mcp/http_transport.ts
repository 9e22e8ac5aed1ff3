import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Access } from "./sign_in/required.ts";

/** A server on the network. */
export interface HttpServer {
  type: "http" | "sse";
  url: string;
  /** Sent with each request to this origin and to no other. */
  headers: Readonly<Record<string, string>>;
}

/** Hops within one origin. */
const REDIRECTS_MAX = 5;

/** Loads the SDK's transport for a server on the network. Redirects are followed within its origin only. */
export async function httpTransport({ type, url, headers }: HttpServer, access: Access | null): Promise<Transport> {
  const within = fetchWithin(new URL(url).origin);
  const options = { requestInit: { headers: { ...headers } }, fetch: access?.wrap(within) ?? within };
  if (type === "sse") {
    const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
    return new SSEClientTransport(new URL(url), options);
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const transport = new StreamableHTTPClientTransport(new URL(url), options);
  // Its session id may be undefined, which the interface says by its absence.
  return transport;
}

/** A redirect to another origin fails: what stands in the headers is for this one alone. */
function fetchWithin(origin: string): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    let target = new URL(url);
    for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
      if (target.origin !== origin) {
        throw new RedirectError("The server sends its clients to another origin; set that address instead.");
      }
      const response = await fetch(target, { ...init, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      const keeps_method = response.status === 307 || response.status === 308 || (init?.method ?? "GET") === "GET";
      if (!keeps_method) {
        throw new RedirectError(
          "The server answers a request with a redirect that drops it; set the address it leads to.",
        );
      }
      target = new URL(location, target);
    }
    throw new RedirectError("The server redirects too often.");
  };
}

class RedirectError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RedirectError";
  }
}
