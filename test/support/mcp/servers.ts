import { fileURLToPath } from "node:url";
import type { ExternalServerStatus, ExternalTool, ExternalTools } from "../../../src/contracts/external_tools.ts";
import type { ToolContext } from "../../../src/contracts/tool.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog, type Log } from "../../../src/lib/log.ts";
import { createSpawner } from "../../../src/lib/spawn.ts";
import { McpManager } from "../../../src/mcp/manager.ts";
import {
  CONNECTION_LIMITS,
  type ConnectionLimits,
  type McpDependencies,
  type ServerSettings,
} from "../../../src/mcp/settings.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { toolBench, type CallResult, type ToolBench } from "../tool_context.ts";
import type { HostileOptions } from "./hostile_server.ts";

const NO_SERVER: ServerSettings = {
  type: null,
  command: null,
  args: [],
  env: {},
  url: null,
  headers: {},
  oauth_client_id: null,
  oauth_client_secret: null,
  oauth_scope: null,
};

/** A server that is started. */
export function program(command: string, args: string[] = [], env: Record<string, string> = {}): ServerSettings {
  return { ...NO_SERVER, command, args, env };
}

/** A server on the network. */
export function remote(
  url: string,
  headers: Record<string, string> = {},
  type: "http" | "sse" = "http",
): ServerSettings {
  return { ...NO_SERVER, type, url, headers };
}

/** The server for tests, told how to behave. */
export function hostile(options: HostileOptions = {}, env: Record<string, string> = {}): ServerSettings {
  const path = fileURLToPath(new URL("./hostile_server.ts", import.meta.url));
  return program(process.execPath, ["--no-warnings", path, JSON.stringify(options)], env);
}

/** A published server, from this project's own packages. */
export function published(name: string, args: string[] = [], env: Record<string, string> = {}): ServerSettings {
  const path = fileURLToPath(
    new URL(`../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url),
  );
  return program(process.execPath, [path, ...args], env);
}

export interface ServersOptions {
  limits?: Partial<ConnectionLimits>;
  refresh_interval_s?: number;
  log?: Log;
  workspace_root?: string | null;
  credentials?: McpDependencies["credentials"];
  clock?: McpDependencies["clock"];
  onChange?: (external: ExternalTools) => void;
}

/** Servers under test, with a bench to call their tools on. */
export interface StartedServers {
  manager: McpManager;
  bench: ToolBench;
  /** Every picture that the manager gave, in order. */
  pictures: readonly ExternalTools[];
  /** A tool by its own or its full name. */
  find: (name: string) => ExternalTool;
  state: (server: string) => ExternalServerStatus | undefined;
  /** Calls a tool by its own or its full name. */
  call: (name: string, args?: JsonObject, fields?: Partial<ToolContext>) => Promise<CallResult>;
  /** Resolves as soon as something that the manager tells is so. */
  until: (found: () => boolean) => Promise<void>;
  close: () => Promise<void>;
}

/** The real manager with real programs. */
export function startServers(servers: Record<string, ServerSettings>, options: ServersOptions = {}): StartedServers {
  const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
  const spawner = createSpawner({ env });
  const waiting = new Set<() => void>();
  const pictures: ExternalTools[] = [];
  const manager = new McpManager(
    servers,
    {
      spawner,
      clock: options.clock ?? systemClock,
      log: options.log ?? silentLog,
      redact: (text) => text,
      version: "0.0.0",
      base_environment: env,
      folder: process.cwd(),
      workspace_root: options.workspace_root ?? null,
      refresh_interval_s: options.refresh_interval_s ?? 0,
      credentials: options.credentials ?? null,
      limits: { ...CONNECTION_LIMITS, pause_ms: 50, debounce_ms: 30, ...options.limits },
    },
    (external) => {
      pictures.push(external);
      options.onChange?.(external);
      for (const look of waiting) look();
    },
  );
  manager.start();
  const bench = toolBench();
  const find = (name: string): ExternalTool => {
    const found = manager.tools().find((tool) => tool.own_name === name || tool.definition.name === name);
    if (found === undefined) throw new Error(`No server has a tool ${name}.`);
    return found;
  };
  return {
    manager,
    bench,
    pictures,
    find,
    state: (server) => manager.status().find((status) => status.server === server),
    call: (name, args = {}, fields = {}) => bench.with(fields).call(find(name).tool, args),
    until: (found) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!found()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async close() {
      await manager.close();
      await spawner.close();
      bench.remove();
    },
  };
}
