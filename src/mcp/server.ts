import type { ExternalServerStatus, RefreshReport } from "../contracts/external_tools.ts";
import { Connection } from "./connection.ts";
import { Credential } from "./sign_in/credential.ts";
import type { OAuthServer, Presentation } from "./sign_in/oauth_client.ts";
import { type Challenge, NO_CHALLENGE, OpenAccess } from "./sign_in/required.ts";
import type { McpDependencies, ServerSettings } from "./settings.ts";
import type { ListedTool } from "./tool_list.ts";

/** People who are connected from the start; others are when they first need it. */
const CONNECTED_AT_START_MAX = 50;

/** Renewing needs no browser that comes back. */
const NOWHERE: Presentation = { redirect_url: "http://127.0.0.1/", client_metadata_url: null };

interface PersonalConnection {
  connection: Connection;
  credential: Credential;
}

/**
 * One server with all connections to it: one for everybody, or, where the server wants to know people, one for each
 * person who has signed in. Its tools are then those that any of them sees.
 */
export class Server {
  readonly name: string;
  readonly #settings: ServerSettings;
  readonly #dependencies: McpDependencies;
  readonly #onChange: () => void;
  readonly #access: OpenAccess | null;
  readonly #shared: Connection;
  readonly #people = new Map<string, PersonalConnection>();
  #personal = false;
  #stopped = false;
  #tools: readonly ListedTool[] = [];
  #from: readonly (readonly ListedTool[])[] = [];

  constructor(name: string, settings: ServerSettings, dependencies: McpDependencies, onChange: () => void) {
    this.name = name;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#onChange = onChange;
    this.#access = knowsPeople(settings) && dependencies.credentials !== null ? new OpenAccess() : null;
    this.#shared = new Connection(name, settings, dependencies, this.#access, () => this.#sharedChanged());
  }

  /** Whether people sign in to it one by one, as far as is known. */
  get personal(): boolean {
    return this.#personal;
  }

  get state(): ExternalServerStatus["state"] {
    if (!this.#personal) return this.#shared.state;
    return this.#connections().some(({ state }) => state === "ready") ? "ready" : "sign_in_required";
  }

  get problem(): string | null {
    if (!this.#personal) return this.#shared.problem;
    if (this.state === "ready") return null;
    return `People sign in to it one by one; say /mcp connect ${this.name}.`;
  }

  /** The same array until it changes. Of a name that several people see, the first one's. */
  get tools(): readonly ListedTool[] {
    const from = this.#connections().map(({ tools }) => tools);
    if (from.length === this.#from.length && from.every((tools, index) => tools === this.#from[index])) {
      return this.#tools;
    }
    const by_name = new Map<string, ListedTool>();
    for (const tool of from.flat()) if (!by_name.has(tool.own_name)) by_name.set(tool.own_name, tool);
    this.#from = from;
    this.#tools = from.length === 1 && from[0] !== undefined ? from[0] : [...by_name.values()];
    return this.#tools;
  }

  get leftOut(): readonly string[] {
    return [...new Set(this.#connections().flatMap(({ leftOut }) => leftOut))];
  }

  /** Whether it offers something; null while no connection knows. */
  offers(kind: "resources" | "prompts"): boolean | null {
    const sessions = this.#connections().flatMap(({ session }) => (session === null ? [] : [session]));
    return sessions.length === 0 ? null : sessions.some((session) => session.offers(kind));
  }

  /** The connection for what is done in somebody's name; null where that person has to sign in first. */
  connectionFor(user_id: string | null): Connection | null {
    if (!this.#personal) return this.#shared;
    const own = user_id === null ? undefined : this.#people.get(user_id);
    return own === undefined || own.connection.state === "sign_in_required" ? null : own.connection;
  }

  /** The server as a person signs in to it; null for one that is not on the network, or has its credential. */
  get signInSettings(): OAuthServer | null {
    const { url, oauth_client_id: client_id, oauth_client_secret: client_secret, oauth_scope: scope } = this.#settings;
    return url === null || this.#access === null ? null : { name: this.name, url, client_id, client_secret, scope };
  }

  /** What it asked of a person, or of everybody, when it refused last. */
  async challenge(user_id: string): Promise<Challenge> {
    const own = this.#people.get(user_id)?.credential;
    if (own?.refused === true) return own.challenge;
    await this.#shared.settled(this.#dependencies.limits.connect_deadline_ms);
    return this.#access?.challenge ?? NO_CHALLENGE;
  }

  start(): void {
    this.#shared.start();
  }

  /** Resolves when it is ready or known not to be, or after the given time. */
  async settled(limit_ms: number): Promise<void> {
    await this.#shared.settled(limit_ms);
    if (this.#personal) await Promise.all(this.#connections().map((connection) => connection.settled(limit_ms)));
  }

  async refresh(): Promise<RefreshReport> {
    const connections = this.#personal ? this.#connections() : [];
    if (connections.length === 0) return this.#shared.refresh();
    const reports = await Promise.all(connections.map((connection) => connection.refresh()));
    return reports.find(({ ok }) => ok) ?? reports[0] ?? this.#shared.refresh();
  }

  /** Connects a person who has signed in. */
  async connect(user_id: string): Promise<void> {
    const server = this.signInSettings;
    const { credentials } = this.#dependencies;
    if (server === null || credentials === null || this.#stopped) return;
    this.#personal = true;
    const known = this.#people.get(user_id);
    if (known !== undefined) {
      known.credential.forgetRead();
      await known.connection.refresh();
      return;
    }
    const credential = new Credential(server, user_id, credentials.store, credentials.presentation ?? NOWHERE);
    const connection = new Connection(this.name, this.#settings, this.#dependencies, credential, () =>
      this.#onChange(),
    );
    this.#people.set(user_id, { connection, credential });
    connection.start();
    await connection.settled(this.#dependencies.limits.connect_deadline_ms);
  }

  async disconnect(user_id: string): Promise<void> {
    const known = this.#people.get(user_id);
    this.#people.delete(user_id);
    await known?.connection.stop();
    this.#onChange();
  }

  /** A person whose credential is kept, and who was not among the first that were connected. */
  async connectKept(user_id: string): Promise<void> {
    if (!this.#personal || this.#people.has(user_id)) return;
    const kept = await this.#dependencies.credentials?.store.tokens(this.name, user_id);
    if (kept) await this.connect(user_id);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#shared.stop(), ...[...this.#people.values()].map(({ connection }) => connection.stop())]);
  }

  #connections(): Connection[] {
    return this.#personal ? [...this.#people.values()].map(({ connection }) => connection) : [this.#shared];
  }

  #sharedChanged(): void {
    if (this.#shared.state === "sign_in_required" && !this.#personal) {
      this.#personal = true;
      void this.#connectPeople();
    } else if (this.#shared.state === "ready") this.#personal = false;
    this.#onChange();
  }

  async #connectPeople(): Promise<void> {
    try {
      const people = (await this.#dependencies.credentials?.store.people(this.name)) ?? [];
      await Promise.all(people.slice(0, CONNECTED_AT_START_MAX).map((user_id) => this.connect(user_id)));
    } catch (error) {
      this.#dependencies.log.error("mcp.people_not_connected", { server: this.name, error });
    }
  }
}

/** A server whose settings hold an authorisation is let in by that, or not at all. */
function knowsPeople({ url, headers }: ServerSettings): boolean {
  return url !== null && !Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
