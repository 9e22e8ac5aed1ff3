import type { HttpContext } from "../context.ts";
import type { Route } from "../route.ts";
import { authRoutes } from "./auth.ts";
import { eventRoutes } from "./events.ts";
import { messageRoutes } from "./messages.ts";
import { workstreamRoutes } from "./workstreams.ts";

/** Every route of the server. */
export function routeTable(context: HttpContext): Route[] {
  return [
    ...authRoutes(context),
    ...workstreamRoutes(context),
    ...messageRoutes(context),
    ...eventRoutes(context),
  ];
}
