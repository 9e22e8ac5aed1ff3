import type { IncomingHttpHeaders } from "node:http";

const LOOPBACK_HOSTS: readonly string[] = ["127.0.0.1", "localhost", "[::1]", "::1"];

/** Whether a host to listen on is this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/**
 * Whether a browser's request comes from our own page: the host it names is loopback, which stops names that are
 * pointed at this machine, and the origin, where there is one, is that host.
 */
export function isOwnPage(headers: IncomingHttpHeaders): boolean {
  const host = headers.host ?? "";
  if (!isLoopback(host.replace(/:\d+$/, ""))) return false;
  return headers.origin === undefined || headers.origin === `http://${host}`;
}
