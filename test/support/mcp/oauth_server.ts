import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Grant {
  account: string;
  scope: string;
}

/** A request for a token, as the authorisation server got it. */
export interface TokenRequest {
  grant_type: string;
  status: number;
}

/**
 * An MCP server that knows people, with its own authorisation server, in this process. It checks what it should check:
 * redirect addresses, PKCE, resource, one use of each code and each refresh token.
 */
export class OAuthMcpServer {
  /** Who consents next at the authorisation page. */
  account = "ana";
  /** Said instead of a code. */
  refuse: string | null = null;
  /** Rights that calls need. */
  needs_scope = "basic";
  token_status: number | null = null;
  /** What its metadata says otherwise than it is. */
  metadata: Record<string, unknown> = {};
  resource_metadata: Record<string, unknown> = {};
  readonly token_requests: TokenRequest[] = [];
  /** `Authorization` of each request to the MCP endpoint. */
  readonly seen: string[] = [];
  readonly access = new Map<string, Grant>();
  readonly #refresh = new Map<string, Grant>();
  readonly #codes = new Map<string, Grant & { challenge: string; redirect_uri: string; client_id: string }>();
  readonly #clients = new Map<string, string[]>();
  #server: Server | null = null;
  origin = "";

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async listen(): Promise<this> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
    return this;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  /** As when their hour is over. */
  expireAccess(): void {
    this.access.clear();
  }

  /** As when a person takes back what they allowed. */
  revokeAll(): void {
    this.access.clear();
    this.#refresh.clear();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const body = await text(request);
    if (url.pathname === "/mcp") return this.#mcp(request, response, body);
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return json(response, 200, {
        resource: this.url,
        authorization_servers: [this.origin],
        ...this.resource_metadata,
      });
    }
    if (url.pathname === "/.well-known/oauth-authorization-server") return json(response, 200, this.#metadata());
    if (url.pathname === "/register") return this.#register(response, body);
    if (url.pathname === "/authorize") return this.#authorize(response, url.searchParams);
    if (url.pathname === "/token") return this.#token(response, new URLSearchParams(body));
    json(response, 404, {});
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  #register(response: ServerResponse, body: string): void {
    const wanted = JSON.parse(body) as { redirect_uris: string[] };
    const client_id = randomUUID();
    this.#clients.set(client_id, wanted.redirect_uris);
    json(response, 201, { ...wanted, client_id });
  }

  #authorize(response: ServerResponse, query: URLSearchParams): void {
    const of = (name: string): string => query.get(name) ?? "";
    const [client_id, redirect_uri, challenge] = [of("client_id"), of("redirect_uri"), of("code_challenge")];
    const known = this.#clients.get(client_id)?.includes(redirect_uri) === true;
    if (!known || of("code_challenge_method") !== "S256" || of("resource") !== this.url) {
      return json(response, 400, { error: "invalid_request" });
    }
    const back = new URL(redirect_uri);
    back.searchParams.set("state", of("state"));
    back.searchParams.set("iss", this.origin);
    if (this.refuse === null) {
      const code = randomUUID();
      this.#codes.set(code, { account: this.account, scope: of("scope"), challenge, redirect_uri, client_id });
      back.searchParams.set("code", code);
    } else back.searchParams.set("error", this.refuse);
    response.writeHead(302, { location: back.href }).end();
  }

  #token(response: ServerResponse, form: URLSearchParams): void {
    const grant_type = form.get("grant_type") ?? "";
    const grant = this.token_status === null ? this.#grantOf(grant_type, form) : null;
    const status = this.token_status ?? (grant === null ? 400 : 200);
    this.token_requests.push({ grant_type, status });
    if (grant === null) return json(response, status, { error: status === 400 ? "invalid_grant" : "server_error" });
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    this.access.set(access_token, grant);
    this.#refresh.set(refresh_token, grant);
    json(response, 200, { access_token, refresh_token, token_type: "Bearer", expires_in: 3600, scope: grant.scope });
  }

  #grantOf(grant_type: string, form: URLSearchParams): Grant | null {
    if (grant_type === "refresh_token") {
      const token = form.get("refresh_token") ?? "";
      const grant = this.#refresh.get(token) ?? null;
      this.#refresh.delete(token);
      return grant;
    }
    const code = form.get("code") ?? "";
    const begun = this.#codes.get(code);
    this.#codes.delete(code);
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (begun?.challenge !== verifier || begun.redirect_uri !== form.get("redirect_uri")) return null;
    return { account: begun.account, scope: begun.scope };
  }

  #mcp(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { authorization = "" } = request.headers;
    this.seen.push(authorization);
    const token = authorization.replace(/^Bearer /, "");
    const grant = this.access.get(token);
    const where = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
    if (grant === undefined) {
      response.setHeader("www-authenticate", `Bearer ${where}, scope="basic"`);
      return json(response, 401, {});
    }
    if (request.method !== "POST") return json(response, 405, {});
    const message = JSON.parse(body) as { id?: unknown; method: string; params?: { name?: string } };
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === "tools/call" && !grant.scope.split(" ").includes(this.needs_scope)) {
      response.setHeader(
        "www-authenticate",
        `Bearer error="insufficient_scope", ${where}, scope="basic ${this.needs_scope}"`,
      );
      return json(response, 403, {});
    }
    json(response, 200, { jsonrpc: "2.0", id: message.id, result: resultOf(message, grant, token) });
  }
}

function resultOf(message: { method: string; params?: { name?: string } }, grant: Grant, token: string): unknown {
  const inputSchema = { type: "object" };
  switch (message.method) {
    case "initialize":
      return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "o", version: "1" } };
    case "tools/list":
      return { tools: ["whoami", "leak", `only_${grant.account}`].map((name) => ({ name, inputSchema })) };
    case "tools/call": {
      const said = message.params?.name === "leak" ? `your token is ${token}` : grant.account;
      return { content: [{ type: "text", text: said }] };
    }
    default:
      return {};
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
