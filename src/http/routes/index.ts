import type { HttpContext } from "../context.ts";
import type { Route } from "../route.ts";
import { adminRoutes } from "./admin.ts";
import { attachmentRoutes } from "./attachments.ts";
import { authRoutes } from "./auth.ts";
import { budgetRoutes } from "./budgets.ts";
import { channelProgressRoutes } from "./channel_progress.ts";
import { channelRoutes } from "./channels.ts";
import { eventRoutes } from "./events.ts";
import { fileRoutes } from "./files.ts";
import { mcpSignInRoutes } from "./mcp_sign_ins.ts";
import { memoryRoutes } from "./memories.ts";
import { messageRoutes } from "./messages.ts";
import { modelRoutes } from "./models.ts";
import { oversightRoutes } from "./oversight.ts";
import { postedRoutes } from "./posted.ts";
import { serviceRoutes } from "./services.ts";
import { systemRoutes } from "./system.ts";
import { workstreamRoutes } from "./workstreams.ts";

/** Every route of the server. */
export function routeTable(context: HttpContext): Route[] {
  return [
    ...systemRoutes(context),
    ...authRoutes(context),
    ...workstreamRoutes(context),
    ...messageRoutes(context),
    ...mcpSignInRoutes(context),
    ...eventRoutes(context),
    ...attachmentRoutes(context),
    ...fileRoutes(context),
    ...modelRoutes(context),
    ...memoryRoutes(context),
    ...adminRoutes(context),
    ...oversightRoutes(context),
    ...budgetRoutes(context),
    ...channelRoutes(context),
    ...channelProgressRoutes(context),
    ...postedRoutes(context),
    ...serviceRoutes(context),
  ];
}
