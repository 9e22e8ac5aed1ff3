import { isIP } from "node:net";
import { addressKind } from "./address.ts";

/** Longer addresses are data rather than addresses, and nobody could judge them on a card. */
const URL_CHARACTERS_MAX = 8_000;

/** Below it lie mail, shells, databases and the like, which a request over HTTP could be made to speak to. */
const UNPRIVILEGED_PORT = 1024;

/** `opened`: a private host that the settings name, so that a private address is let through. */
export type CheckedUrl = { ok: true; url: URL; opened: boolean } | { ok: false; error: string };

/**
 * Judges all of a URL that can be judged without asking the network. `opened` holds hosts as `endpointOf` writes them.
 * What is judged is the parsed host, in which every spelling of an IP address has become the usual one.
 */
export function checkUrl(text: string, opened: ReadonlySet<string>): CheckedUrl {
  if (text.length > URL_CHARACTERS_MAX) return refuse("The URL is longer than 8,000 characters. Use a shorter one.");
  const url = URL.parse(text);
  if (url === null) return refuse(`${quoted(text)} is not a URL. Give a whole one, such as https://example.com/page.`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refuse(`${quoted(url.protocol)} URLs cannot be fetched; only http:// and https:// can.`);
  }
  if (url.username !== "" || url.password !== "") {
    return refuse("A URL with a user name or password in it is not fetched. Leave them out.");
  }
  const is_opened = opened.has(endpointOf(url));
  const port = portOf(url);
  if (port !== 80 && port !== 443 && port < UNPRIVILEGED_PORT && !is_opened) {
    return refuse(`Port ${port} cannot be reached; only 80, 443 and those from 1024 on can.`);
  }
  const literal = hostOf(url);
  const refusal = isIP(literal) === 0 ? null : refusalOf(literal, [literal], is_opened);
  return refusal === null ? { ok: true, url, opened: is_opened } : refuse(refusal);
}

/** Why a host with these addresses must not be reached, in words; null when it may. One bad address spoils all. */
export function refusalOf(host: string, addresses: readonly string[], opened: boolean): string | null {
  if (addresses.length === 0) return `${host} has no address.`;
  const kinds = addresses.map(addressKind);
  if (kinds.includes("never")) {
    return `${host} is at an address that is never fetched from (reserved, or a cloud's metadata).`;
  }
  if (opened || !kinds.includes("private")) return null;
  const advice = "Its owner can open it with the setting allow_private in [tools].";
  return `${host} is at a private address, and only public hosts are fetched from. ${advice}`;
}

/** Host and port, such as `intranet.local:443` or `[::1]:8080`. */
export function endpointOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** The settings' `host:port` as `endpointOf` writes them. An entry that is none is left out. */
export function openedEndpoints(entries: readonly string[]): ReadonlySet<string> {
  const endpoints = entries.flatMap((entry) => {
    const port = /:(\d{1,5})$/.exec(entry)?.[1];
    const url = URL.parse(`http://${entry}`);
    return url === null || port === undefined ? [] : [`${url.hostname}:${Number(port)}`];
  });
  return new Set(endpoints);
}

/** The host without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

function refuse(error: string): CheckedUrl {
  return { ok: false, error };
}
