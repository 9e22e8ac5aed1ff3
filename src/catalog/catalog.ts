import type { ExternalTools } from "../contracts/external_tools.ts";
import type { Tool, ToolSearchResult } from "../contracts/tool.ts";
import type { ModelTool, ToolDefinition } from "../protocol/tool_definition.ts";
import type { WorkstreamKind } from "../protocol/workstream.ts";
import { ExternalRegistry } from "./external.ts";
import { OfferCache, type Offer, type OfferRequest } from "./offer.ts";
import type { RegisteredTool } from "./registered_tool.ts";
import { schemaCheck } from "./schema_check.ts";
import {
  TOOL_SEARCH_DEFAULTS,
  TOOL_SEARCH_NAME,
  toolSearch,
  toolSearchDefinition,
  type ToolSearchSettings,
} from "./tool_search.ts";

/** What every provider takes: OpenAI refuses a request with more tools. */
export const OFFERED_TOOLS_MAX = 128;

/** Deferred tools that go along with each request for a provider's own search; beyond it ours costs less. */
const NATIVE_DEFERRED_MAX = 500;

/** The sets that follow from the definitions, derived once at start. */
export interface ToolSets {
  TOOLS: readonly ToolDefinition[];
  AGENT_TOOLS: readonly ToolDefinition[];
  TASK_AGENT_TOOLS: readonly ToolDefinition[];
  AGENT_AUTO_TOOLS: ReadonlySet<string>;
  TASK_AUTO_TOOLS: ReadonlySet<string>;
  BUILTIN_TOOL_NAMES: ReadonlySet<string>;
  PRIMARY_KEY_MAP: ReadonlyMap<string, string>;
}

/** All tools of this server. Names from a model are looked up in a Map, never on an object. */
export interface Catalog {
  readonly sets: ToolSets;
  find(name: string): RegisteredTool | undefined;
  /** Whether a workstream of this kind may call the tool, whether or not the model was told of it. */
  allows(kind: WorkstreamKind, name: string): boolean;
  /** What a model is offered, built-in tools first. */
  offered(request: OfferRequest): Offer;
  /** Every name that may be called, for error messages. */
  names(kind: WorkstreamKind): string[];
  /** Finds external tools; `expanded` are those that the workstream sees already. */
  searchTools(query: string, expanded: ReadonlySet<string>): ToolSearchResult;
  setExternal(external: ExternalTools): void;
}

/** Derives the sets from the definitions alone. */
export function deriveSets(definitions: readonly ToolDefinition[]): ToolSets {
  const auto = new Set(
    definitions.filter((definition) => definition.auto_approve).map((definition) => definition.name),
  );
  return {
    TOOLS: definitions,
    AGENT_TOOLS: definitions.filter((definition) => definition.agent),
    TASK_AGENT_TOOLS: definitions.filter((definition) => definition.task_agent),
    AGENT_AUTO_TOOLS: auto,
    TASK_AUTO_TOOLS: auto,
    BUILTIN_TOOL_NAMES: new Set(definitions.map((definition) => definition.name)),
    PRIMARY_KEY_MAP: new Map(definitions.map((definition) => [definition.name, definition.primary_key])),
  };
}

/**
 * Pairs definitions with code. A definition without code, or code without a definition, throws: the start is refused.
 * `hidden` names tools that have no back end here and are not offered.
 */
export function createCatalog(
  definitions: readonly ToolDefinition[],
  tools: readonly Tool[],
  hidden: ReadonlySet<string> = new Set(),
  search: ToolSearchSettings = TOOL_SEARCH_DEFAULTS,
): Catalog {
  const code = new Map(tools.map((tool) => [tool.name, tool]));
  const built_in = new Map<string, RegisteredTool>();
  for (const definition of definitions) {
    const tool = code.get(definition.name);
    if (tool === undefined) throw new Error(`The tool ${definition.name} has a definition but no code.`);
    built_in.set(definition.name, { definition, tool, check: schemaCheck(definition.parameters), built_in: true });
  }
  for (const name of code.keys()) {
    if (!built_in.has(name)) throw new Error(`The tool ${name} has code but no definition under tools/.`);
  }
  return new LiveCatalog(deriveSets(definitions), built_in, hidden, search);
}

class LiveCatalog implements Catalog {
  readonly sets: ToolSets;
  readonly #built_in: ReadonlyMap<string, RegisteredTool>;
  readonly #search: ToolSearchSettings;
  readonly #external = new ExternalRegistry();
  readonly #offers = new OfferCache();
  readonly #shown: Readonly<Record<WorkstreamKind, readonly ModelTool[]>>;
  #search_tool: RegisteredTool | null = null;
  #version = 0;

  constructor(
    sets: ToolSets,
    built_in: ReadonlyMap<string, RegisteredTool>,
    hidden: ReadonlySet<string>,
    search: ToolSearchSettings,
  ) {
    this.sets = sets;
    this.#built_in = built_in;
    this.#search = search;
    const shown = (definitions: readonly ToolDefinition[]): ModelTool[] =>
      definitions.filter(({ name }) => !hidden.has(name)).map(modelTool);
    this.#shown = { main: shown(sets.TOOLS), task: shown(sets.TASK_AGENT_TOOLS), plan: shown(sets.AGENT_TOOLS) };
  }

  find(name: string): RegisteredTool | undefined {
    if (name === TOOL_SEARCH_NAME && this.#search_tool !== null) return this.#search_tool;
    return this.#built_in.get(name) ?? this.#external.find(name);
  }

  allows(kind: WorkstreamKind, name: string): boolean {
    if (name === TOOL_SEARCH_NAME && this.#search_tool !== null) return this.#searches(kind);
    if (this.#built_in.has(name)) return this.#shown[kind].some((tool) => tool.name === name);
    return this.#external.find(name) !== undefined;
  }

  offered(request: OfferRequest): Offer {
    return this.#offers.get(request, this.#version, () => this.#offer(request));
  }

  #offer({ kind, expanded, native_search }: OfferRequest): Offer {
    const own = this.#shown[kind];
    const external = this.#external.shown;
    if (!this.#searches(kind)) return { tools: external.length === 0 ? own : [...own, ...external], deferred: [] };
    const found = [...expanded].map((name) => this.#external.modelTool(name)).filter((tool) => tool !== undefined);
    if (native_search && external.length <= NATIVE_DEFERRED_MAX) {
      const deferred = external.filter((tool) => !expanded.has(tool.name));
      return { tools: [...own, ...found], deferred };
    }
    const search_tool = this.#search_tool === null ? [] : [modelTool(this.#search_tool.definition)];
    const room = Math.max(0, OFFERED_TOOLS_MAX - own.length - search_tool.length);
    return { tools: [...own, ...search_tool, ...found.slice(-room)], deferred: [] };
  }

  /** Whether external tools are searched for rather than listed. */
  #searches(kind: WorkstreamKind): boolean {
    const { count } = this.#external;
    if (count === 0 || this.#search.mode === "off") return false;
    if (kind !== "main") return this.#shown[kind].length + count > OFFERED_TOOLS_MAX;
    return this.#search.mode === "on" || this.sets.TOOLS.length + count >= this.#search.threshold;
  }

  names(kind: WorkstreamKind): string[] {
    const { tools } = this.offered({ kind, expanded: NONE, native_search: false });
    const listed = tools.map((tool) => tool.name);
    return this.#searches(kind) ? [...listed, ...this.#external.shown.map((tool) => tool.name)] : listed;
  }

  searchTools(query: string, expanded: ReadonlySet<string>): ToolSearchResult {
    const ranked = this.#external.search(query);
    const fresh = ranked.filter(({ name }) => !expanded.has(name));
    const found = fresh.slice(0, this.#search.max_results).map(({ name }) => this.#external.modelTool(name));
    const best = ranked.slice(0, this.#search.max_results);
    return {
      found: found.filter((tool) => tool !== undefined),
      total: fresh.length,
      already_visible: best.filter(({ name }) => expanded.has(name)).map(({ name }) => name),
      unavailable_servers: this.#external.servers
        .filter((server) => server.unavailable !== null)
        .map(({ name, unavailable }) => `${name} (${unavailable ?? ""})`),
    };
  }

  setExternal(external: ExternalTools): void {
    if (!this.#external.set(external)) return;
    this.#version += 1;
    const definition = toolSearchDefinition(this.#external.servers);
    this.#search_tool =
      this.#external.count === 0
        ? null
        : { definition, tool: toolSearch, check: schemaCheck(definition.parameters), built_in: true };
  }
}

const NONE: ReadonlySet<string> = new Set();

function modelTool({ name, description, parameters }: ToolDefinition): ModelTool {
  return { name, description, parameters };
}
