import type { Tool } from "../contracts/tool.ts";
import type { ModelTool, ToolDefinition } from "../protocol/tool_definition.ts";
import type { WorkstreamKind } from "../protocol/workstream.ts";
import { schemaCheck, type SchemaCheck } from "./schema_check.ts";

/** A tool that can be called: what a model is told, and the code behind it. */
export interface RegisteredTool {
  definition: ToolDefinition;
  tool: Tool;
  /** Null when the arguments satisfy the schema, else what is wrong in words. */
  check: SchemaCheck;
  built_in: boolean;
}

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

/** Where external tools come from; replaced as a whole when they change. */
export interface ExternalTools {
  tools: readonly { definition: ToolDefinition; tool: Tool }[];
}

/** All tools of this server. Names from a model are looked up in a Map, never on an object. */
export interface Catalog {
  readonly sets: ToolSets;
  find(name: string): RegisteredTool | undefined;
  /** Whether a workstream of this kind may call the tool. */
  allows(kind: WorkstreamKind, name: string): boolean;
  /** What a model of this kind of workstream is offered, built-in tools first. The same array until something changes. */
  offered(kind: WorkstreamKind): readonly ModelTool[];
  /** Every name that `find` knows, for error messages. */
  names(kind: WorkstreamKind): string[];
  setExternal(external: ExternalTools): void;
}

/** Derives the sets from the definitions alone. */
export function deriveSets(definitions: readonly ToolDefinition[]): ToolSets {
  const auto = new Set(definitions.filter((definition) => definition.auto_approve).map((definition) => definition.name));
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
  return new LiveCatalog(deriveSets(definitions), built_in, hidden);
}

class LiveCatalog implements Catalog {
  readonly sets: ToolSets;
  readonly #built_in: ReadonlyMap<string, RegisteredTool>;
  readonly #hidden: ReadonlySet<string>;
  #external: ReadonlyMap<string, RegisteredTool> = new Map();
  #offered = new Map<WorkstreamKind, readonly ModelTool[]>();

  constructor(sets: ToolSets, built_in: ReadonlyMap<string, RegisteredTool>, hidden: ReadonlySet<string>) {
    this.sets = sets;
    this.#built_in = built_in;
    this.#hidden = hidden;
  }

  find(name: string): RegisteredTool | undefined {
    return this.#built_in.get(name) ?? this.#external.get(name);
  }

  allows(kind: WorkstreamKind, name: string): boolean {
    if (this.#hidden.has(name)) return false;
    if (this.#external.has(name) || kind === "main") return this.find(name) !== undefined;
    return this.#setOf(kind).some((definition) => definition.name === name);
  }

  offered(kind: WorkstreamKind): readonly ModelTool[] {
    const known = this.#offered.get(kind);
    if (known !== undefined) return known;
    const made = [...this.#setOf(kind), ...[...this.#external.values()].map((entry) => entry.definition)]
      .filter((definition) => !this.#hidden.has(definition.name))
      .map(({ name, description, parameters }) => ({ name, description, parameters }));
    this.#offered.set(kind, made);
    return made;
  }

  names(kind: WorkstreamKind): string[] {
    return this.offered(kind).map((tool) => tool.name);
  }

  setExternal(external: ExternalTools): void {
    this.#external = new Map(
      external.tools.map(({ definition, tool }) => [
        definition.name,
        { definition, tool, check: schemaCheck(definition.parameters), built_in: false },
      ]),
    );
    this.#offered = new Map();
  }

  #setOf(kind: WorkstreamKind): readonly ToolDefinition[] {
    switch (kind) {
      case "main":
        return this.sets.TOOLS;
      case "task":
        return this.sets.TASK_AGENT_TOOLS;
      case "plan":
        return this.sets.AGENT_TOOLS;
    }
  }
}

