import type { McpServers } from "../config/tool_settings.ts";
import type {
  ExternalPrompt,
  ExternalServer,
  ExternalServers,
  ExternalServerStatus,
  ExternalTool,
  ExternalTools,
  PromptText,
  RefreshReport,
} from "../contracts/external_tools.ts";
import { mayBelongTo, serverNameProblem } from "./names.ts";
import { listPrompts, readPromptText } from "./prompts.ts";
import { absentTool, remoteTool } from "./remote_tool.ts";
import { resourceTool } from "./resources.ts";
import { NO_SIGN_INS, type SignIns } from "../contracts/mcp_sign_in.ts";
import { Server } from "./server.ts";
import type { McpDependencies } from "./settings.ts";
import { NO_CHALLENGE } from "./sign_in/required.ts";
import { PeopleSignIns } from "./sign_in/sign_ins.ts";
import type { ListedTool } from "./tool_list.ts";

/** What was made of one server's list. */
interface MadeTools {
  from: readonly ListedTool[];
  has_resources: boolean;
  tools: readonly ExternalTool[];
}

/**
 * All external servers. They connect side by side once started; whatever happens to one touches no other. `onChange`
 * gets the whole picture each time something in it changes.
 */
export class McpManager implements ExternalServers {
  readonly #servers = new Map<string, Server>();
  readonly #rejected = new Map<string, string>();
  readonly sign_ins: SignIns;
  readonly #dependencies: McpDependencies;
  readonly #onChange: (external: ExternalTools) => void;
  /** What was made of a server's list, for as long as it is the same list. */
  readonly #made = new Map<string, MadeTools>();
  #pictured: readonly ExternalServer[] = [];
  #collisions = new Map<string, string[]>();

  constructor(servers: McpServers, dependencies: McpDependencies, onChange: (external: ExternalTools) => void) {
    this.#dependencies = dependencies;
    this.#onChange = onChange;
    this.sign_ins = this.#createSignIns();
    for (const [name, settings] of Object.entries(servers)) {
      const problem = serverNameProblem(name);
      if (problem === null) {
        this.#servers.set(name, new Server(name, settings, dependencies, () => this.#changed()));
      } else this.#reject(name, problem);
    }
  }

  #createSignIns(): SignIns {
    const { credentials, clock, log } = this.#dependencies;
    if (credentials === null) return NO_SIGN_INS;
    const { presentation, store } = credentials;
    return new PeopleSignIns(
      { credentials: store, clock, log, presentation },
      {
        server: (name) => this.#servers.get(name)?.signInSettings ?? null,
        challenge: async (name, user_id) => (await this.#servers.get(name)?.challenge(user_id)) ?? NO_CHALLENGE,
        signedIn: async (name, user_id) => this.#servers.get(name)?.connect(user_id),
        signedOut: async (name, user_id) => this.#servers.get(name)?.disconnect(user_id),
      },
    );
  }

  #reject(name: string, problem: string): void {
    this.#rejected.set(name, problem);
    this.#dependencies.log.warn("mcp.rejected", { server: name, problem });
  }

  /** Begins to connect; waits for nothing. */
  start(): void {
    for (const server of this.#servers.values()) server.start();
    this.#changed();
  }

  /** Resolves when each server is ready or known not to be: at the deadline at the latest. */
  async settled(): Promise<void> {
    const { connect_deadline_ms } = this.#dependencies.limits;
    await Promise.all([...this.#servers.values()].map((server) => server.settled(connect_deadline_ms)));
  }

  status(): ExternalServerStatus[] {
    const rejected = [...this.#rejected].map(([server, problem]): ExternalServerStatus => ({
      server,
      state: "rejected",
      problem,
      tools: 0,
      left_out: [],
    }));
    const known = [...this.#servers.values()].map((server): ExternalServerStatus => ({
      server: server.name,
      state: server.state,
      problem: server.problem,
      tools: this.#pictured.find(({ name }) => name === server.name)?.tools.length ?? 0,
      left_out: [...server.leftOut, ...(this.#collisions.get(server.name) ?? [])],
    }));
    return [...known, ...rejected];
  }

  tools(): ExternalTool[] {
    return this.#pictured.flatMap((server) => server.tools);
  }

  async refresh(name: string | null): Promise<RefreshReport[] | null> {
    if (name === null) {
      const reports = await Promise.all([...this.#servers.values()].map((server) => server.refresh()));
      const rejected = [...this.#rejected].map(([server, error]): RefreshReport => ({ server, ok: false, error }));
      return [...reports, ...rejected];
    }
    const rejected = this.#rejected.get(name);
    if (rejected !== undefined) return [{ server: name, ok: false, error: rejected }];
    const server = this.#servers.get(name);
    return server === undefined ? null : [await server.refresh()];
  }

  async prompts(user_id: string | null): Promise<ExternalPrompt[]> {
    const connections = [...this.#servers.values()].flatMap((server) => server.connectionFor(user_id) ?? []);
    return (await Promise.all(connections.map((connection) => listPrompts(connection, this.#dependencies)))).flat();
  }

  async prompt(
    name: string,
    prompt: string,
    args: Record<string, string>,
    user_id: string | null,
  ): Promise<PromptText> {
    const server = this.#servers.get(name);
    if (server === undefined) {
      const known = [...this.#servers.keys()].join(", ");
      return { ok: false, error: `There is no MCP server ${name}; known are ${known}.` };
    }
    const connection = server.connectionFor(user_id);
    if (connection !== null) return readPromptText(connection, prompt, args, this.#dependencies);
    return { ok: false, error: `You are not signed in to the MCP server ${name}; say /mcp connect ${name}.` };
  }

  /** Ends every connection; programs of servers are gone when it resolves. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
  }

  #changed(): void {
    const names = new Map<string, string>();
    this.#collisions = new Map();
    this.#pictured = [...this.#servers.values()].map((server) => this.#picture(server, names));
    this.#onChange({ servers: this.#pictured, absent: (name) => this.#absent(name) });
  }

  #picture(server: Server, names: Map<string, string>): ExternalServer {
    const { name } = server;
    const all = this.#toolsOf(server);
    const unavailable = server.state === "ready" ? null : (server.problem ?? "it is being connected");
    const doubled = all.filter(({ definition }) => names.has(definition.name));
    for (const { definition } of all) if (!names.has(definition.name)) names.set(definition.name, name);
    if (doubled.length === 0) return { name, tools: all, unavailable };
    const notes = doubled.map(({ own_name, definition }) => {
      const other = names.get(definition.name) ?? "";
      return `${own_name} is not offered: the server ${other} has a tool of the same full name, ${definition.name}.`;
    });
    this.#collisions.set(name, notes);
    for (const note of notes) this.#dependencies.log.warn("mcp.collision", { server: name, note });
    return { name, tools: all.filter((tool) => !doubled.includes(tool)), unavailable };
  }

  #toolsOf(server: Server): readonly ExternalTool[] {
    const { name, tools: from } = server;
    const known = this.#made.get(name);
    const has_resources = server.offers("resources") ?? known?.has_resources ?? false;
    if (known?.from === from && known.has_resources === has_resources) return known.tools;
    const tools = from.map(({ definition, own_name, about }): ExternalTool => ({
      definition,
      own_name,
      about,
      tool: remoteTool(definition.name, own_name, server),
    }));
    const reading = has_resources ? resourceTool(server) : null;
    if (reading !== null) tools.push(reading);
    this.#made.set(name, { from, has_resources, tools });
    return tools;
  }

  /** Only for servers whose tools were never seen: of all others it is known which tools they have. */
  #absent(name: string): ExternalTool | undefined {
    const server = [...this.#servers.values()].find(
      (one) => one.state !== "ready" && one.tools.length === 0 && mayBelongTo(name, one.name),
    );
    if (server === undefined) return undefined;
    return {
      definition: {
        name,
        description: "",
        parameters: { type: "object", properties: {} },
        agent: true,
        task_agent: true,
        auto_approve: false,
        primary_key: "",
      },
      own_name: name,
      about: "",
      tool: absentTool(name, server, this.#dependencies.limits.connect_deadline_ms),
    };
  }
}
