import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";

/** On every answer. What a browser is allowed to do with JSON and event streams: nothing. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "cache-control": "no-store",
};

const FORWARDING_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"] as const;

/** Whether an address means this machine. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, "");
  return plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."));
}

/** Whether a name, without its port, means this machine. */
export function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}

/** The name in a `Host` header, without port and brackets, in lower case. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host)?.[1];
  return (bracketed ?? host.replace(/:\d+$/, "")).toLowerCase();
}

/** Whether the caller sits on this machine, with no proxy in between that could stand for somebody else. */
export function isLocalRequest(request: FastifyRequest): boolean {
  if (FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined)) return false;
  return isLoopbackAddress(request.socket.remoteAddress ?? "") && isLoopbackName(hostName(request.headers.host ?? ""));
}

/**
 * Whether a request may be answered under the name it calls us by. On a loopback address a foreign name means that a
 * web page has pointed its own name at this machine (DNS rebinding).
 */
export function isHostAllowed(request: FastifyRequest, bind: string, allowed: readonly string[]): boolean {
  if (!isLoopbackName(hostName(bind))) return true;
  const name = hostName(request.headers.host ?? "");
  return isLoopbackName(name) || allowed.includes(name);
}

/** Whether a browser says that a page of ours sends this. Asked where a cookie alone would carry the request. */
export function isSameOrigin(request: FastifyRequest): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin" || site === "none";
  const { origin } = request.headers;
  if (origin === undefined) return false;
  return URL.canParse(origin) && new URL(origin).host === request.host;
}
