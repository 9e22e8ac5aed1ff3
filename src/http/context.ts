import type { Principal } from "../contracts/principal.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { LoginLimiter } from "../auth/login_limiter.ts";
import type { DecidedBy } from "../protocol/approval.ts";
import type { JsonObject } from "../protocol/json.ts";
import { timestamp } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { forbidden } from "./failures.ts";
import type { Metrics } from "./metrics.ts";
import type { RateLimit } from "./rate_limit.ts";
import type { Route } from "./route.ts";
import type { RouteChanges } from "./route_changes.ts";
import type { SseHub } from "./sse_hub.ts";
import type { StreamQuota } from "./stream_quota.ts";

/** All that handlers share. */
export interface HttpContext extends HttpDependencies {
  authenticator: Authenticator;
  login_limiter: LoginLimiter;
  /** Null: off. */
  rate_limit: RateLimit | null;
  hub: SseHub;
  stream_quota: StreamQuota;
  route_changes: RouteChanges;
  metrics: Metrics;
  /** Every route, for the OpenAPI document. */
  routes: Route[];
  /** Milliseconds since the epoch. */
  started: number;
}

/** Keeps that somebody did something that others may ask about later. */
export async function audit(
  context: HttpContext,
  user_id: string | null,
  action: string,
  target: string,
  details: JsonObject = {},
): Promise<void> {
  const row = { audit_id: newId(), at: timestamp(context.clock), user_id, action, target, details };
  await context.store.audit.add(row);
}

/** The person who asks; a gateway that acts for nobody is refused. */
export function personOf(principal: Principal): DecidedBy {
  if (principal.user_id === null) {
    throw forbidden("A gateway must say for whom it acts: send the header X-Turnstone-Actor.");
  }
  return { user_id: principal.user_id, name: principal.display_name };
}
