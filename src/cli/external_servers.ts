import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/load.ts";
import type { ExternalServers } from "../contracts/external_tools.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Spawner } from "../lib/spawn.ts";
import { packageVersion } from "./package.ts";

/** What MCP servers need of the rest. */
export interface ExternalServerParts {
  spawner: Spawner;
  clock: Clock;
  log: Log;
  redact: (text: string) => string;
  catalog: Catalog;
  /** Of this process, secrets removed. */
  env: Readonly<Record<string, string>>;
}

/** Configured MCP servers as the composition holds them. */
export interface RunningServers extends ExternalServers {
  start(): void;
  close(): Promise<void>;
}

/** Null when none is configured: nothing of MCP is loaded then. Their tools come into the catalog as servers answer. */
export async function createExternalServers(
  config: Config,
  parts: ExternalServerParts,
): Promise<RunningServers | null> {
  const { servers, refresh_interval } = config.mcp;
  if (Object.keys(servers).length === 0) return null;
  const [{ McpManager }, { CONNECTION_LIMITS }] = await Promise.all([
    import("../mcp/manager.ts"),
    import("../mcp/settings.ts"),
  ]);
  const { spawner, clock, log, redact, catalog, env } = parts;
  const base_environment = Object.fromEntries(
    ["PATH", "HOME"].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  return new McpManager(
    servers,
    {
      spawner,
      clock,
      log: log.child({ part: "mcp" }),
      redact,
      version: packageVersion(),
      base_environment,
      folder: process.cwd(),
      workspace_root: config.workspace.root,
      refresh_interval_s: refresh_interval,
      limits: CONNECTION_LIMITS,
    },
    (external) => catalog.setExternal(external),
  );
}
