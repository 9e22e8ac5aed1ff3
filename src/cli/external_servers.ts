import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/load.ts";
import type { ExternalServers } from "../contracts/external_tools.ts";
import type { McpSignInStore } from "../contracts/mcp_sign_in.ts";
import { isLoopbackName } from "../http/security.ts";
import { createSealer } from "../lib/seal.ts";
import type { Presentation } from "../mcp/sign_in/oauth_client.ts";
import { PATHS } from "../protocol/paths.ts";
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
  /** Where people's sign-ins are kept. */
  store: { readonly mcp_sign_ins: McpSignInStore };
  /** What they are sealed with. */
  jwt_secret: string;
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
  const [{ McpManager }, { CONNECTION_LIMITS }, { CredentialStore }] = await Promise.all([
    import("../mcp/manager.ts"),
    import("../mcp/settings.ts"),
    import("../mcp/sign_in/kept.ts"),
  ]);
  const { spawner, clock, log, redact, catalog, env, store, jwt_secret } = parts;
  const sealer = createSealer(jwt_secret, "mcp credentials");
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
      credentials: {
        store: new CredentialStore({ store: store.mcp_sign_ins, sealer, clock, log }),
        presentation: presentationOf(config.server),
      },
    },
    (external) => catalog.setExternal(external),
  );
}

/** How this installation presents itself where people sign in; null where no browser could come back. */
function presentationOf({ public_url, host, port }: Config["server"]): Presentation | null {
  const own = isLoopbackName(host) ? `http://127.0.0.1:${port}` : null;
  const base = public_url ?? own;
  if (base === null) return null;
  return {
    redirect_url: `${base}${PATHS.mcp_sign_in_callback}`,
    client_metadata_url: base.startsWith("https://") ? `${base}${PATHS.mcp_client_metadata}` : null,
  };
}
