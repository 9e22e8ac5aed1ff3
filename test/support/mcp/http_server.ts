import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { isJsonObject, type JsonObject } from "../../../src/protocol/json.ts";

/** What a server on the network got. */
export interface HttpRecord {
  method: string;
  /** Of the JSON-RPC message; empty for other requests. */
  rpc: string;
  headers: IncomingMessage["headers"];
}

/** An MCP server over streamable HTTP, in this process, that can be made to misbehave. */
export class HttpMcpServer {
  readonly requests: HttpRecord[] = [];
  /** Where each request is sent on to, and with which status. */
  redirect: { status: number; location: string } | null = null;
  /** What an unknown session gets. */
  unknown_session_status = 404;
  /** What every request gets. */
  refuse_status: number | null = null;
  #server: Server | null = null;
  #sessions = new Set<string>();
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** On the same port each time. */
  async listen(): Promise<this> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  /** As after a restart of the server: it knows nobody any more. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  count(rpc: string): number {
    return this.requests.filter((request) => request.rpc === rpc).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const message: unknown = body === "" ? null : JSON.parse(body);
    const rpc = isJsonObject(message) && typeof message["method"] === "string" ? message["method"] : "";
    this.requests.push({ method: request.method ?? "", rpc, headers: request.headers });
    if (this.redirect !== null) {
      response.writeHead(this.redirect.status, { location: this.redirect.location }).end();
      return;
    }
    if (this.refuse_status !== null) {
      response.writeHead(this.refuse_status).end("no");
      return;
    }
    if (request.method !== "POST" || !isJsonObject(message)) {
      response.writeHead(request.method === "GET" ? 405 : 200).end();
      return;
    }
    this.#answerMessage(message, request, response);
  }

  #answerMessage(message: JsonObject, request: IncomingMessage, response: ServerResponse): void {
    const { id, method, params } = message;
    const known = this.#sessions.has(String(request.headers["mcp-session-id"]));
    if (method !== "initialize" && !known) {
      response.writeHead(this.unknown_session_status).end("session not found");
      return;
    }
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (method === "initialize") {
      const session = randomUUID();
      this.#sessions.add(session);
      headers["mcp-session-id"] = session;
    }
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method, params) }));
  }
}

function resultOf(method: unknown, params: unknown): JsonObject {
  const given = isJsonObject(params) ? params : {};
  switch (method) {
    case "initialize":
      return {
        protocolVersion: given["protocolVersion"] ?? "",
        capabilities: { tools: {} },
        serverInfo: { name: "http", version: "1" },
      };
    case "tools/list":
      return { tools: [{ name: "echo", description: "Says it again", inputSchema: { type: "object" } }] };
    case "tools/call":
      return { content: [{ type: "text", text: JSON.stringify(given["arguments"]) }] };
    default:
      return {};
  }
}
