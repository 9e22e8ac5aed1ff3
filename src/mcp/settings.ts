import type { McpServers } from "../config/tool_settings.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Spawner } from "../lib/spawn.ts";
import type { CredentialStore } from "./sign_in/kept.ts";
import type { Presentation } from "./sign_in/oauth_client.ts";

export type ServerSettings = McpServers[string];

/** What every connection works with. */
export interface McpDependencies {
  spawner: Spawner;
  clock: Clock;
  log: Log;
  redact: (text: string) => string;
  /** Told to servers as our own. */
  version: string;
  /** `PATH` and `HOME`, which programs of servers get besides what their settings name. */
  base_environment: Readonly<Record<string, string>>;
  /** Where programs of servers start. */
  folder: string;
  /** The folder that servers are told of as the workspace; null when each conversation has its own. */
  workspace_root: string | null;
  /** Seconds between two looks at the tools of servers that do not push; 0 for never. */
  refresh_interval_s: number;
  limits: ConnectionLimits;
  /** How people sign in; null where nobody can. `presentation` is null where no browser could come back. */
  credentials: { store: CredentialStore; presentation: Presentation | null } | null;
}

/** Times in milliseconds. */
export interface ConnectionLimits {
  /** After that a server that has not answered counts as unavailable; it is still waited for. */
  connect_deadline_ms: number;
  /** After that it is given up and started anew. */
  connect_patience_ms: number;
  /** For one page of a list. */
  list_timeout_ms: number;
  /** The first pause before a reconnect; it doubles up to the longest. */
  pause_ms: number;
  pause_max_ms: number;
  /** How long a burst of change notifications is gathered. */
  debounce_ms: number;
  /** Between two looks whether a server on the network still answers. */
  ping_interval_ms: number;
  ping_timeout_ms: number;
  /** For an orderly end of one connection. */
  close_timeout_ms: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  // What the slowest packaged servers take on a cold cache.
  connect_deadline_ms: 30_000,
  // A first start by npx or uvx may have to fetch half the world.
  connect_patience_ms: 300_000,
  list_timeout_ms: 30_000,
  pause_ms: 1000,
  pause_max_ms: 60_000,
  debounce_ms: 250,
  ping_interval_ms: 60_000,
  ping_timeout_ms: 5000,
  close_timeout_ms: 5000,
};
