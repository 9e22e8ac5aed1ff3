/**
 * Every route of the server, in Fastify's notation. The gateway, the terminal client and the tests build their URLs
 * from these.
 */
export const PATHS = {
  root: "/",
  health: "/health",
  metrics: "/metrics",
  openapi: "/openapi.json",
  docs: "/docs",
  docs_asset: "/docs/:asset",
  login: "/v1/api/auth/login",
  logout: "/v1/api/auth/logout",
  setup: "/v1/api/auth/setup",
  auth_status: "/v1/api/auth/status",
  workstreams: "/v1/api/workstreams",
  workstreams_saved: "/v1/api/workstreams/saved",
  workstreams_new: "/v1/api/workstreams/new",
  dashboard: "/v1/api/dashboard",
  history: "/v1/api/workstreams/:ws_id/history",
  events: "/v1/api/workstreams/:ws_id/events",
  send: "/v1/api/workstreams/:ws_id/send",
  send_withdraw: "/v1/api/workstreams/:ws_id/send/:msg_id",
  approve: "/v1/api/workstreams/:ws_id/approve",
  plan: "/v1/api/workstreams/:ws_id/plan",
  mcp_request: "/v1/api/workstreams/:ws_id/mcp_requests/:request_id",
  cancel: "/v1/api/workstreams/:ws_id/cancel",
  rewind: "/v1/api/workstreams/:ws_id/rewind",
  retry: "/v1/api/workstreams/:ws_id/retry",
  close: "/v1/api/workstreams/:ws_id/close",
  invite: "/v1/api/workstreams/:ws_id/invite",
  delete: "/v1/api/workstreams/:ws_id/delete",
  attachments: "/v1/api/workstreams/:ws_id/attachments",
  attachment: "/v1/api/workstreams/:ws_id/attachments/:attachment_id",
  workspace_file: "/v1/api/workstreams/:ws_id/files",
  mcp_sign_ins: "/v1/api/mcp/sign_ins",
  mcp_sign_in: "/v1/api/mcp/sign_ins/:server",
  mcp_sign_in_callback: "/v1/api/mcp/sign_in_callback",
  mcp_client_metadata: "/v1/api/mcp/client_metadata",
  command: "/v1/api/command",
  events_global: "/v1/api/events/global",
  models: "/v1/api/models",
  memories: "/v1/api/memories",
  memory: "/v1/api/memories/:memory_id",
  admin_users: "/v1/api/admin/users",
  admin_user: "/v1/api/admin/users/:user_id",
  admin_tokens: "/v1/api/admin/tokens",
  admin_token: "/v1/api/admin/tokens/:token_id",
  admin_links: "/v1/api/admin/links",
  admin_grants: "/v1/api/admin/grants",
  admin_grant: "/v1/api/admin/grants/:grant_id",
  admin_budgets: "/v1/api/admin/budgets",
  admin_audit: "/v1/api/admin/audit",
  channel_events: "/v1/api/channels/:channel_type/events",
  channel_link: "/v1/api/channels/:channel_type/links",
  channel_link_of: "/v1/api/channels/:channel_type/links/:channel_user_id",
  channel_links_of_user: "/v1/api/channels/links_of/:username",
  channel_routes: "/v1/api/channels/:channel_type/routes",
  channel_route: "/v1/api/channels/:channel_type/routes/:channel_id",
  channel_owner: "/v1/api/channels/:channel_type/routes/:channel_id/owner",
  channel_cursor: "/v1/api/channels/:channel_type/routes/:channel_id/cursor",
  channel_closing: "/v1/api/channels/:channel_type/closings/:channel_id",
  channel_marks: "/v1/api/channels/:channel_type/marks",
  channel_posted: "/v1/api/channels/:channel_type/posted",
  channel_posted_message: "/v1/api/channels/:channel_type/posted/:message_id",
  services: "/v1/api/services",
  service: "/v1/api/services/:service_type/:service_id",
  notify: "/v1/api/notify",
} as const;

/** A path with its parameters filled in and escaped; throws on a missing one. */
export function pathOf(template: string, parameters: Record<string, string> = {}): string {
  return template.replace(/:([a-z_]+)/g, (_match, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new Error(`The path ${template} needs the parameter ${name}.`);
    return encodeURIComponent(value);
  });
}
