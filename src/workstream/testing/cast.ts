import { loadDefinitions } from "../../catalog/definitions.ts";
import type { ProviderEvent } from "../../contracts/provider.ts";
import type { Tool } from "../../contracts/tool.ts";
import { textOf } from "../../protocol/message.ts";
import type { ToolDefinition } from "../../protocol/tool_definition.ts";
import { says, ScriptedProvider, type Script } from "../../../test/support/scripted_provider.ts";

/** Model calls that a cast plays at most. */
const CALLS_MAX = 100;

/**
 * What each conversation's model says in turn, by the words that its first message begins with: agents run side by
 * side.
 */
export type Roles = Record<string, Script[]>;

/** A provider that plays several conversations at once. */
export function castProvider(roles: Roles): ScriptedProvider {
  const play: Script = async function* (request, signal): AsyncGenerator<ProviderEvent> {
    const first = request.messages[0];
    const opening = first?.role === "user" ? textOf(first.content) : "";
    const role = Object.keys(roles).find((words) => opening.startsWith(words));
    const script = (role === undefined ? undefined : roles[role])?.shift() ?? says("(the script is over)");
    yield* typeof script === "function" ? script(request, signal) : script;
  };
  return new ScriptedProvider().script(...Array.from({ length: CALLS_MAX }, () => play));
}

/** A built-in tool with its own definition. */
export function builtIn(tool: Tool): { definition: ToolDefinition; tool: Tool } {
  const definition = loadDefinitions().find(({ name }) => name === tool.name);
  if (definition === undefined) throw new Error(`There is no definition of ${tool.name}.`);
  return { definition, tool };
}
