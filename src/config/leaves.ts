import type { Field, Node } from "./field.ts";
import { DEFAULT_MODEL_VARIABLES } from "./model_settings.ts";
import { SETTINGS } from "./settings.ts";

/** A setting and its dotted path; a name that people choose stands as `<name>` in it. */
export interface SettingLeaf {
  path: string;
  field: Field<unknown>;
}

/** Every single setting, in the order of the declaration. */
export function settingLeaves(): SettingLeaf[] {
  return leavesOf(SETTINGS, []);
}

function leavesOf(node: Node, at: readonly string[]): SettingLeaf[] {
  switch (node.kind) {
    case "field":
      return [{ path: at.join("."), field: node }];
    case "section":
      return Object.entries(node.keys).flatMap(([key, child]) => leavesOf(child, [...at, key]));
    case "names":
      return leavesOf(node.of, [...at, "<name>"]);
    case "rows":
    case "optional":
      return leavesOf(node.of, at);
    default:
      return node satisfies never;
  }
}

/** `port` of `port <number>`. */
export function flagName(flag: string): string {
  return flag.split(" ")[0] ?? flag;
}

/** Every variable of the environment that sets something. */
export function settingVariables(): string[] {
  const named = settingLeaves().flatMap(({ field }) => (field.env === undefined ? [] : [field.env]));
  return ["TURNSTONE_CONFIG", ...named, ...Object.keys(DEFAULT_MODEL_VARIABLES)];
}
