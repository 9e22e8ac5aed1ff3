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
import { Connection } from "./connection.ts";
import { mayBelongTo, serverNameProblem } from "./names.ts";
import { listPrompts, readPromptText } from "./prompts.ts";
import { absentTool, remoteTool } from "./remote_tool.ts";
import { resourceTool } from "./resources.ts";
import type { McpDependencies } from "./settings.ts";
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
  readonly #connections = new Map<string, Connection>();
  readonly #rejected = new Map<string, string>();
  readonly #dependencies: McpDependencies;
  readonly #onChange: (external: ExternalTools) => void;
  /** What was made of a server's list, for as long as it is the same list. */
  readonly #made = new Map<string, MadeTools>();
  #servers: readonly ExternalServer[] = [];
  #collisions = new Map<string, string[]>();

  constructor(servers: McpServers, dependencies: McpDependencies, onChange: (external: ExternalTools) => void) {
    this.#dependencies = dependencies;
    this.#onChange = onChange;
    for (const [name, settings] of Object.entries(servers)) {
      const problem = serverNameProblem(name);
      if (problem === null) {
        this.#connections.set(name, new Connection(name, settings, dependencies, () => this.#changed()));
      } else this.#reject(name, problem);
    }
  }

  #reject(name: string, problem: string): void {
    this.#rejected.set(name, problem);
    this.#dependencies.log.warn("mcp.rejected", { server: name, problem });
  }

  /** Begins to connect; waits for nothing. */
  start(): void {
    for (const connection of this.#connections.values()) connection.start();
    this.#changed();
  }

  /** Resolves when each server is ready or known not to be: at the deadline at the latest. */
  async settled(): Promise<void> {
    const { connect_deadline_ms } = this.#dependencies.limits;
    await Promise.all([...this.#connections.values()].map((connection) => connection.settled(connect_deadline_ms)));
  }

  status(): ExternalServerStatus[] {
    const rejected = [...this.#rejected].map(([server, problem]): ExternalServerStatus => ({
      server,
      state: "rejected",
      problem,
      tools: 0,
      left_out: [],
    }));
    const known = [...this.#connections.values()].map((connection): ExternalServerStatus => ({
      server: connection.name,
      state: connection.state,
      problem: connection.problem,
      tools: this.#servers.find((server) => server.name === connection.name)?.tools.length ?? 0,
      left_out: [...connection.leftOut, ...(this.#collisions.get(connection.name) ?? [])],
    }));
    return [...known, ...rejected];
  }

  tools(): ExternalTool[] {
    return this.#servers.flatMap((server) => server.tools);
  }

  async refresh(server: string | null): Promise<RefreshReport[] | null> {
    if (server === null) {
      const reports = await Promise.all([...this.#connections.values()].map((connection) => connection.refresh()));
      const rejected = [...this.#rejected].map(([name, error]): RefreshReport => ({ server: name, ok: false, error }));
      return [...reports, ...rejected];
    }
    const rejected = this.#rejected.get(server);
    if (rejected !== undefined) return [{ server, ok: false, error: rejected }];
    const connection = this.#connections.get(server);
    return connection === undefined ? null : [await connection.refresh()];
  }

  async prompts(): Promise<ExternalPrompt[]> {
    const lists = [...this.#connections.values()].map((connection) => listPrompts(connection, this.#dependencies));
    return (await Promise.all(lists)).flat();
  }

  async prompt(server: string, name: string, args: Record<string, string>): Promise<PromptText> {
    const connection = this.#connections.get(server);
    if (connection !== undefined) return readPromptText(connection, name, args, this.#dependencies);
    return {
      ok: false,
      error: `There is no MCP server ${server}; known are ${[...this.#connections.keys()].join(", ")}.`,
    };
  }

  /** Ends every connection; programs of servers are gone when it resolves. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.stop()));
  }

  #changed(): void {
    const names = new Map<string, string>();
    this.#collisions = new Map();
    this.#servers = [...this.#connections.values()].map((connection) => this.#serverOf(connection, names));
    this.#onChange({ servers: this.#servers, absent: (name) => this.#absent(name) });
  }

  #serverOf(connection: Connection, names: Map<string, string>): ExternalServer {
    const all = this.#toolsOf(connection);
    const unavailable = connection.state === "ready" ? null : (connection.problem ?? "it is being connected");
    const doubled = all.filter(({ definition }) => names.has(definition.name));
    for (const { definition } of all) if (!names.has(definition.name)) names.set(definition.name, connection.name);
    if (doubled.length === 0) return { name: connection.name, tools: all, unavailable };
    const notes = doubled.map(({ own_name, definition }) => {
      const other = names.get(definition.name) ?? "";
      return `${own_name} is not offered: the server ${other} has a tool of the same full name, ${definition.name}.`;
    });
    this.#collisions.set(connection.name, notes);
    for (const note of notes) this.#dependencies.log.warn("mcp.collision", { server: connection.name, note });
    return { name: connection.name, tools: all.filter((tool) => !doubled.includes(tool)), unavailable };
  }

  #toolsOf(connection: Connection): readonly ExternalTool[] {
    const known = this.#made.get(connection.name);
    const has_resources = connection.session?.offers("resources") ?? known?.has_resources ?? false;
    if (known?.from === connection.tools && known.has_resources === has_resources) return known.tools;
    const tools = connection.tools.map(({ definition, own_name, about }): ExternalTool => ({
      definition,
      own_name,
      about,
      tool: remoteTool(definition.name, own_name, connection),
    }));
    const reading = resourceTool(connection);
    if (reading !== null) tools.push(reading);
    this.#made.set(connection.name, { from: connection.tools, has_resources, tools });
    return tools;
  }

  /** Only for servers whose tools were never seen: of all others it is known which tools they have. */
  #absent(name: string): ExternalTool | undefined {
    const connection = [...this.#connections.values()].find(
      (one) => one.state !== "ready" && one.tools.length === 0 && mayBelongTo(name, one.name),
    );
    if (connection === undefined) return undefined;
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
      tool: absentTool(name, connection, this.#dependencies.limits.connect_deadline_ms),
    };
  }
}
