import type { ExternalServer, ExternalTools } from "../contracts/external_tools.ts";
import type { ModelTool } from "../protocol/tool_definition.ts";
import type { RegisteredTool } from "./registered_tool.ts";
import { ToolIndex, type RankedName } from "./ranking.ts";
import { lenientSchemaCheck } from "./schema_check.ts";

/** One server's tools as they are registered, for as long as its list stays the same. */
interface KnownServer {
  from: ExternalServer["tools"];
  tools: ReadonlyMap<string, RegisteredTool>;
  shown: readonly ModelTool[];
}

/** Tools that are not ours, with the index that finds them. Only servers whose list changed cost anything. */
export class ExternalRegistry {
  readonly #index = new ToolIndex();
  #known: ReadonlyMap<string, KnownServer> = new Map();
  #by_name: ReadonlyMap<string, RegisteredTool> = new Map();
  #shown: readonly ModelTool[] = [];
  #shown_by_name: ReadonlyMap<string, ModelTool> = new Map();
  #external: ExternalTools = { servers: [], absent: () => undefined };

  get count(): number {
    return this.#shown.length;
  }

  /** What models are told of all of them, in the order of servers. The same array until one changes. */
  get shown(): readonly ModelTool[] {
    return this.#shown;
  }

  get servers(): readonly ExternalServer[] {
    return this.#external.servers;
  }

  find(name: string): RegisteredTool | undefined {
    const known = this.#by_name.get(name);
    if (known !== undefined) return known;
    const absent = this.#external.absent(name);
    return absent === undefined ? undefined : registered(absent);
  }

  modelTool(name: string): ModelTool | undefined {
    return this.#shown_by_name.get(name);
  }

  search(query: string): RankedName[] {
    return this.#index.search(query);
  }

  /** Answers whether any list of tools changed. */
  set(external: ExternalTools): boolean {
    this.#external = external;
    const known = new Map(external.servers.map((server) => [server.name, this.#serverOf(server)]));
    const gone = [...this.#known.keys()].filter((name) => !known.has(name));
    const changed = gone.length > 0 || [...known].some(([name, server]) => this.#known.get(name) !== server);
    if (!changed) return false;
    for (const name of gone) this.#index.setServer(name, []);
    this.#known = known;
    this.#by_name = new Map([...known.values()].flatMap((server) => [...server.tools]));
    this.#shown = [...known.values()].flatMap((server) => server.shown);
    this.#shown_by_name = new Map(this.#shown.map((tool) => [tool.name, tool]));
    return true;
  }

  #serverOf({ name, tools }: ExternalServer): KnownServer {
    const known = this.#known.get(name);
    if (known?.from === tools) return known;
    this.#index.setServer(name, tools);
    return {
      from: tools,
      tools: new Map(tools.map((tool) => [tool.definition.name, registered(tool)])),
      shown: tools.map(({ definition: { name: exposed, description, parameters } }) => ({
        name: exposed,
        description,
        parameters,
      })),
    };
  }
}

function registered({ definition, tool }: ExternalServer["tools"][number]): RegisteredTool {
  return { definition, tool, check: lenientSchemaCheck(definition.parameters), built_in: false };
}
