import type { Clock } from "../src/lib/clock.ts";
import type { Log } from "../src/lib/log.ts";
import type { ChannelAdapter } from "./channel_adapter.ts";
import type { GatewaySettings } from "./config.ts";
import type { PendingApprovals } from "./pending.ts";
import type { Recent } from "./recent.ts";
import type { RouteBook } from "./routes.ts";
import type { ServerClient } from "./server_client.ts";

/** What every part of a gateway works with. */
export interface Gateway {
  settings: GatewaySettings;
  log: Log;
  clock: Clock;
  /** Aborted when the gateway stops. */
  signal: AbortSignal;
  server: ServerClient;
  adapter: ChannelAdapter;
  routes: RouteBook;
  pending: PendingApprovals;
  /** The name that we gave a thread last: while it has that name, nobody has renamed it. */
  thread_names: Recent<string>;
}
