import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a played gateway answers to its nth request; null: it hangs up, as one that is killed. */
export type Play = (count: number) => PlayedAnswer | null | Promise<PlayedAnswer | null>;

interface PlayedAnswer {
  status: number;
  body: string;
}

export interface PlayedGateway {
  url: string;
  /** In the order in which they came. */
  asked: { body: Record<string, unknown>; authorization: string | undefined }[];
}

/** Small real servers that play gateways. */
export interface PlayedGateways {
  open(play: Play): Promise<PlayedGateway>;
  /** An address where nobody listens. */
  closedPort(): Promise<string>;
  close(): Promise<void>;
}

export function playedGateways(): PlayedGateways {
  const servers: Server[] = [];
  const listen = async (server: Server): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  return {
    async open(play) {
      const asked: PlayedGateway["asked"] = [];
      const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        asked.push({ body: JSON.parse(await bodyOf(request)), authorization: request.headers.authorization });
        const answer = await play(asked.length);
        if (answer === null) response.destroy();
        else response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
      };
      const server = createServer((request, response) => void respond(request, response));
      servers.push(server);
      return { url: await listen(server), asked };
    },
    async closedPort() {
      const server = createServer();
      const url = await listen(server);
      await closed(server);
      return url;
    },
    async close() {
      await Promise.all(servers.splice(0).map(closed));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
