import type { Engine } from "../contracts/engine.ts";
import type { SignIns } from "../contracts/mcp_sign_in.ts";
import type { Store, WorkstreamRow } from "../contracts/store.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { HealthAnswer, ModelsAnswer } from "../protocol/answers.ts";
import type { Workspace } from "../lib/workspace.ts";

/** Settings of the HTTP server, as plain values. */
export interface HttpOptions {
  /** The address that the server listens on; on a loopback address only loopback names are answered to. */
  host: string;
  version: string;
  node_id: string;
  /** At least 32 bytes. */
  jwt_secret: Uint8Array;
  /** What the first start asks for over a non-loopback address. */
  setup_code: string;
  /** Proxies whose `X-Forwarded-*` headers are believed: addresses or CIDR ranges. */
  trusted_proxies: readonly string[];
  /** Names by which a server on a loopback address may be called besides `localhost`, such as a proxy's. */
  allowed_hosts: readonly string[];
  /** Null: no limit. */
  rate_limit: { requests_per_second: number; burst: number } | null;
}

/** All that the HTTP server works with. */
export interface HttpDependencies {
  engine: Engine;
  store: Store;
  clock: Clock;
  log: Log;
  /** Takes the values of the server's own secrets out of what people write, so that they are neither kept nor shown. */
  withoutOwnSecrets: (text: string) => string;
  /** The models that a workstream may use. */
  models: () => ModelsAnswer["models"];
  /** How things stand with each MCP server. */
  mcpServers: () => HealthAnswer["mcp_servers"];
  /** How people sign in to MCP servers. */
  signIns: SignIns;
  /** Opens the folder of a workstream that is nobody's sub-agent. */
  workspaceOf: (row: WorkstreamRow) => Promise<Workspace>;
  options: HttpOptions;
}
