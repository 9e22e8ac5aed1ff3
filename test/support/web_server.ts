import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FetchOptions } from "../../src/lib/net.ts";

/** The address that plays the public internet: loopback, but not the one where private things listen. */
const PUBLIC_SITE = "127.0.0.2";

export interface WebServer {
  readonly port: number;
  /** Paths that were asked for, in order. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves what `handle` writes, on `127.0.0.2` for a public site or `127.0.0.1` for a private one. */
export async function startWebServer(
  who: "public" | "private",
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<WebServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, who === "public" ? PUBLIC_SITE : "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with a text of a media type. */
export function respond(response: ServerResponse, content_type: string, body: string | Uint8Array): void {
  response.writeHead(200, { "content-type": content_type }).end(body);
}

/** Names and their addresses; a function is asked at each look-up. A name that is not there fails. */
export type Names = Readonly<Record<string, readonly string[] | (() => readonly string[])>>;

/** An address that anybody may reach, at which the public site seems to be. */
export const PUBLIC_ADDRESS = "93.184.216.34";

/** `site.test` is the public site; private addresses are dialled as they are, so that a leak would be seen. */
export function practiceInternet(names: Names = {}): Required<Pick<FetchOptions, "resolve" | "dial">> {
  return {
    resolve: async (host) => {
      const entry = host === "site.test" ? [PUBLIC_ADDRESS] : names[host];
      if (entry === undefined) throw new Error(`queryA ESERVFAIL ${host}`);
      return typeof entry === "function" ? entry() : entry;
    },
    dial: (address) => (/^(?:127\.|::1$|::ffff:)/.test(address) ? address : PUBLIC_SITE),
  };
}
