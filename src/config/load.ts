import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { nearestNames } from "../lib/nearest.ts";
import { CRASH_POINTS_VARIABLE } from "./crash_points.ts";
import { interpolate, lineOf, readTomlFile } from "./file.ts";
import { flagName, settingLeaves, settingVariables } from "./leaves.ts";
import { readMcpFile } from "./mcp_file.ts";
import { DEFAULT_MODEL_VARIABLES } from "./model_settings.ts";
import { chooseModels, inferModels } from "./models.ts";
import type { ModelChoice, ModelConfig } from "./models.ts";
import { absolutePath } from "./paths.ts";
import { readNode } from "./read.ts";
import type { Override, Reading } from "./read.ts";
import type { Surroundings } from "./field.ts";
import { SETTINGS } from "./settings.ts";
import type { SettingsTable } from "./settings.ts";
import { MCP_SERVERS } from "./tool_settings.ts";
import type { McpServers } from "./tool_settings.ts";

/**
 * Every setting, worked out and frozen. Keys as in `config.toml`; times in the unit that the setting's description
 * names.
 */
export interface Config extends Omit<SettingsTable, "model" | "models"> {
  model: ModelChoice;
  /** By alias. Empty when nothing is set: whoever starts the server looks for a local one. */
  models: Readonly<Record<string, ModelConfig>>;
  /** The file that was read, whether it exists or not. */
  config_path: string;
}

export type ConfigResult =
  | { ok: true; config: Config; warnings: readonly string[] }
  /** One sentence a line. */
  | { ok: false; error: string };

type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  /** By name without dashes, such as `{ port: "9000", "skip-permissions": true }`. */
  flags: Readonly<Record<string, string | boolean | undefined>>;
  env: Environment;
  /** Where relative paths of flags and variables start. */
  cwd: string;
  home: string;
}

/** The settings of this process. */
export function loadProcessConfig(flags: ConfigSources["flags"]): ConfigResult {
  return loadConfig({ flags, env: process.env, cwd: process.cwd(), home: process.env["HOME"] || homedir() });
}

/**
 * Reads flags, environment and `config.toml`, in this order of precedence, and checks all of it. Touches no file but
 * to read.
 */
export function loadConfig(sources: ConfigSources): ConfigResult {
  const { flags, env, cwd, home } = sources;
  const asked = typeof flags["config"] === "string" ? flags["config"] : env["TURNSTONE_CONFIG"] || undefined;
  const file = absolutePath(asked ?? join(home, ".config", "turnstone", "config.toml"), { home, folder: cwd });
  const content = readTomlFile(file, asked !== undefined);
  if (!content.ok) return content;

  const problems: string[] = [];
  const place = (at: readonly string[]): string => {
    const line = lineOf(content.text, at);
    return line === null ? file : `${file}, line ${line}`;
  };
  const table = interpolate(content.table, [], { env, file, home, place, problems });
  if (problems.length > 0) return { ok: false, error: problems.join("\n") };
  const reading: Reading = {
    overrides: collectOverrides(flags, env, { home, folder: cwd }),
    place,
    surroundings: { home, folder: dirname(file) },
    problems,
  };
  const config = workOut(readNode(SETTINGS, table, [], reading) as SettingsTable, file, sources, reading);
  if (problems.length > 0) return { ok: false, error: problems.join("\n") };
  return { ok: true, config: freezeDeep(config), warnings: unknownVariables(env) };
}

function collectOverrides(
  flags: ConfigSources["flags"],
  env: Environment,
  surroundings: Surroundings,
): Map<string, Override> {
  const overrides = new Map<string, Override>();
  // A variable that is set to nothing counts as unset: that is what compose files make of a missing one.
  const take = (path: string, origin: string, text: string | boolean | undefined): void => {
    if (text !== undefined && text !== "") overrides.set(path, { origin, text: String(text), surroundings });
  };
  const leaves = settingLeaves();
  for (const { path, field } of leaves) if (field.env !== undefined) take(path, field.env, env[field.env]);
  for (const [name, path] of Object.entries(DEFAULT_MODEL_VARIABLES)) take(path, name, env[name]);
  for (const { path, field } of leaves) {
    const name = field.flag === undefined ? undefined : flagName(field.flag);
    if (name !== undefined) take(path, `--${name}`, flags[name]);
  }
  return overrides;
}

function workOut(table: SettingsTable, file: string, sources: ConfigSources, reading: Reading): Config {
  const { env, home } = sources;
  const models = inferModels(table.models, env);
  const { server, gateway, approval } = table;
  if (approval.auto_approve_below !== "none" && approval.judge === null) {
    const where = reading.place(["approval", "auto_approve_below"]);
    reading.problems.push(`${where}: [approval] auto_approve_below needs a judge; set [approval] judge, or remove it.`);
  }
  return {
    ...table,
    config_path: file,
    server: { ...server, data_dir: server.data_dir || join(home, ".local", "share", "turnstone") },
    gateway: { ...gateway, server_url: gateway.server_url || localAddress(server.host, server.port) },
    models,
    model: chooseModels(table.model, approval.judge, models, reading.place, reading.problems),
    mcp: { ...table.mcp, servers: mcpServers(table.mcp, sources, reading) },
  };
}

/** The address under which a program on this machine reaches what listens on `host`. */
export function localAddress(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

function mcpServers(mcp: SettingsTable["mcp"], sources: ConfigSources, reading: Reading): McpServers {
  const path = mcp.config_path;
  if (path === null) return checkServers(mcp.servers, reading.place, reading.problems);
  const content = readMcpFile(path);
  if (!content.ok) {
    reading.problems.push(content.error);
    return {};
  }
  const place = (): string => path;
  const { env, home } = sources;
  const { problems } = reading;
  const servers = interpolate(content.servers, ["mcp", "servers"], { env, file: path, home, place, problems });
  const from: Reading = { overrides: new Map(), place, surroundings: { home, folder: dirname(path) }, problems };
  return checkServers(readNode(MCP_SERVERS, servers, ["mcp", "servers"], from) as McpServers, place, problems);
}

/** A server is either started or called: which of the two must be clear. */
function checkServers(servers: McpServers, place: Reading["place"], problems: string[]): McpServers {
  for (const [name, { type, command, url }] of Object.entries(servers)) {
    const wanted = type === null ? null : type === "stdio" ? "command" : "url";
    const clear = wanted === null ? (command === null) !== (url === null) : { command, url }[wanted] !== null;
    const rule = wanted === null ? "either command or url" : `${wanted} for type "${type}"`;
    if (!clear) problems.push(`${place(["mcp", "servers", name])}: [mcp.servers.${name}] must set ${rule}.`);
  }
  return servers;
}

/** Variables that look like ours and are not: a slip of the pen that would otherwise go unnoticed. */
function unknownVariables(env: Environment): string[] {
  const known = settingVariables();
  return Object.keys(env)
    .filter((name) => name.startsWith("TURNSTONE_") && name !== CRASH_POINTS_VARIABLE && !known.includes(name))
    .flatMap((name) => {
      const [near] = nearestNames(name, known, 1);
      return near === undefined ? [] : [`The variable ${name} means nothing to turnstone; did you mean ${near}?`];
    });
}

function freezeDeep<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) freezeDeep(child);
  }
  return value;
}
