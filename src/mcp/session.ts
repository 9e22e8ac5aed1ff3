import { pathToFileURL } from "node:url";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../lib/log.ts";
import { isJsonObject, type JsonObject } from "../protocol/json.ts";
import type { Asking } from "./asking.ts";
import { httpTransport } from "./http_transport.ts";
import type { Access } from "./sign_in/required.ts";
import type { McpDependencies, ServerSettings } from "./settings.ts";
import { StdioTransport } from "./stdio_transport.ts";

/** What a connection is told by its session. */
export interface SessionListener {
  toolsChanged(): void;
  /** Something went wrong on the way; the session may still live. */
  trouble(error: Error): void;
}

/** One initialised exchange with a server, from its handshake to its end. Behind it is the SDK, and nowhere else. */
export class Session {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #result_schema: typeof ResultSchema;
  readonly #access: Access | null;
  readonly #closed = Promise.withResolvers<void>();
  #is_open = true;

  constructor(client: Client, transport: Transport, result_schema: typeof ResultSchema, access: Access | null) {
    this.#access = access;
    this.#client = client;
    this.#transport = transport;
    this.#result_schema = result_schema;
    // The SDK knows no other way to listen.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    client.onclose = () => {
      this.#is_open = false;
      this.#closed.resolve();
    };
  }

  /** Resolves when the session is over, whoever ended it. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get isOpen(): boolean {
    return this.#is_open;
  }

  /** Why it ended, where that is known. */
  get howEnded(): string | null {
    return this.#transport instanceof StdioTransport ? this.#transport.howEnded : null;
  }

  /** Whether the server says by itself when its tools change. */
  get pushesTools(): boolean {
    return this.#client.getServerCapabilities()?.tools?.listChanged === true;
  }

  offers(kind: "tools" | "resources" | "prompts"): boolean {
    return this.#client.getServerCapabilities()?.[kind] !== undefined;
  }

  /**
   * One request. The result is any object: what is in it is looked at piece by piece, so that one odd piece does not
   * spoil the rest. Rejects as the SDK does; `outcome.ts` says what it means.
   */
  async request(
    method: string,
    params: JsonObject,
    options: RequestOptions & { signal: AbortSignal },
  ): Promise<JsonObject> {
    const result: unknown = await whileListening(options.signal, (signal) =>
      this.#client.request({ method, params }, this.#result_schema, { ...options, signal }),
    );
    return isJsonObject(result) ? this.#withoutTokens(result) : {};
  }

  /** A server may say back what it was shown. */
  #withoutTokens(result: JsonObject): JsonObject {
    if (this.#access === null) return result;
    const said = JSON.stringify(result);
    const clean = this.#access.withoutTokens(said);
    return clean === said ? result : (JSON.parse(clean) as JsonObject);
  }

  ping(timeout_ms: number): Promise<unknown> {
    return this.#client.ping({ timeout: timeout_ms });
  }

  /** Ends it within the limit. `orderly`: a server on the network is told, which is of no use when it is gone. */
  async close(limit_ms: number, orderly: boolean): Promise<void> {
    const end = async (): Promise<void> => {
      if (orderly && "terminateSession" in this.#transport && typeof this.#transport.terminateSession === "function") {
        await Promise.resolve(this.#transport.terminateSession()).catch(() => {});
      }
      await this.#client.close();
    };
    await within(
      end().catch(() => {}),
      limit_ms,
    );
    this.#is_open = false;
    this.#closed.resolve();
  }
}

/** Lends a signal for one request: the SDK never takes its listener off, and would cancel what is long over. */
async function whileListening<T>(signal: AbortSignal, work: (own: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const onAbort = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function within(work: Promise<unknown>, limit_ms: number): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(() => limit.resolve(), limit_ms);
  await Promise.race([work, limit.promise]);
  clearTimeout(timer);
}

/** Connects and shakes hands. Rejects when the server cannot be reached, ends, or does not answer in time. */
export async function openSession(
  settings: ServerSettings,
  listener: SessionListener,
  { asking, access }: { asking: Asking; access: Access | null },
  dependencies: McpDependencies,
  log: Log,
  signal: AbortSignal,
): Promise<Session> {
  const [{ Client: SdkClient }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { workspace_root, version, limits } = dependencies;
  const client = new SdkClient(
    { name: "turnstone", version },
    {
      capabilities: {
        elicitation: { form: { applyDefaults: true }, url: {} },
        sampling: {},
        ...(workspace_root === null ? {} : { roots: { listChanged: false } }),
      },
    },
  );
  client.setRequestHandler(types.ElicitRequestSchema, ({ params }, { signal: own }) => asking.elicit(params, own));
  client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }, { signal: own }) =>
    asking.sample(params, own),
  );
  if (workspace_root !== null) {
    const roots = [{ uri: pathToFileURL(workspace_root).href, name: "workspace" }];
    client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots }));
  }
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => listener.toolsChanged());
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onerror = (error) => listener.trouble(error);
  const transport = await transportOf(settings, access, dependencies, log);
  const session = new Session(client, transport, types.ResultSchema, access);
  try {
    await whileListening(signal, (own) =>
      client.connect(transport, { timeout: limits.connect_patience_ms, signal: own }),
    );
    return session;
  } catch (error) {
    const why = session.howEnded;
    await session.close(limits.close_timeout_ms, false);
    throw why === null ? error : new Error(why, { cause: error });
  }
}

async function transportOf(
  settings: ServerSettings,
  access: Access | null,
  dependencies: McpDependencies,
  log: Log,
): Promise<Transport> {
  const { command, args, env, url, headers, type } = settings;
  if (command !== null && (type === null || type === "stdio")) {
    const environment = { ...dependencies.base_environment, ...env };
    return new StdioTransport({ command, args, env: environment, cwd: dependencies.folder }, dependencies.spawner, log);
  }
  if (url === null) throw new Error("Its settings name neither a command nor a url.");
  return httpTransport({ type: type === "sse" ? "sse" : "http", url, headers }, access);
}
