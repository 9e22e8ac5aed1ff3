import { readdirSync, readFileSync } from "node:fs";
import { isJsonObject } from "../protocol/json.ts";
import type { ToolDefinition } from "../protocol/tool_definition.ts";

const DEFAULT_FOLDER = new URL("../../tools/", import.meta.url);

/**
 * Reads the JSON file of each built-in tool, in name order. A malformed one throws with its name: the start is
 * refused.
 */
export function loadDefinitions(folder: URL = DEFAULT_FOLDER): ToolDefinition[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => checkDefinition(file, JSON.parse(readFileSync(new URL(file, folder), "utf8"))));
}

function checkDefinition(file: string, value: unknown): ToolDefinition {
  const refuse = (what: string): never => {
    throw new Error(`The tool definition ${file} ${what}.`);
  };
  if (!isJsonObject(value)) return refuse("is not a JSON object");
  const { name, description, parameters, agent, task_agent, auto_approve, primary_key } = value;
  if (name !== file.replace(/\.json$/, "") || typeof name !== "string") {
    return refuse("does not carry the name of its file");
  }
  if (typeof description !== "string" || description === "") return refuse("has no description");
  if (!isJsonObject(parameters) || parameters["type"] !== "object") {
    return refuse("has no object schema under parameters");
  }
  const { properties, required, additionalProperties } = parameters;
  if (!isJsonObject(properties) || !Array.isArray(required)) return refuse("lacks properties or required");
  if (additionalProperties !== false) return refuse("must say additionalProperties: false");
  for (const key of required) {
    if (typeof key !== "string" || !Object.hasOwn(properties, key)) {
      return refuse(`requires ${JSON.stringify(key)}, which it does not describe`);
    }
  }
  if (typeof primary_key !== "string" || !Object.hasOwn(properties, primary_key)) {
    return refuse("has no valid primary_key");
  }
  return {
    name,
    description,
    parameters,
    agent: agent === true,
    task_agent: task_agent === true,
    auto_approve: auto_approve === true,
    primary_key,
  };
}
