import type { ApproveAnswer, ApproveBody, Grant } from "../src/protocol/approval.ts";
import type { ExtendBudgetAnswer, ExtendBudgetBody } from "../src/protocol/admin.ts";
import type { ModelsAnswer } from "../src/protocol/answers.ts";
import type {
  ChannelLink,
  ChannelMark,
  ChannelOwnerAnswer,
  ChannelRoute,
  ClosingToldBody,
  CursorBody,
  MarksBody,
  PostedBody,
  PostedMessage,
  RouteBody,
} from "../src/protocol/channel.ts";
import type { AttachmentReference } from "../src/protocol/event.ts";
import type { McpRequestAnswer, McpRequestBody, OpenMcpRequest } from "../src/protocol/mcp_request.ts";
import type { BeginSignInAnswer } from "../src/protocol/mcp_sign_in.ts";
import type { ServiceBody } from "../src/protocol/notification.ts";
import { PATHS, pathOf } from "../src/protocol/paths.ts";
import type {
  CancelAnswer,
  HistoryAnswer,
  NewWorkstreamAnswer,
  NewWorkstreamBody,
  SendAnswer,
  SendBody,
} from "../src/protocol/workstream.ts";
import type { ViewFile } from "./render/view.ts";
import {
  download,
  fetchRaw,
  request,
  type Actor,
  type ServerAnswer,
  type ServerConnection,
  type ServerRequest,
} from "./server_request.ts";

/** A workstream as the dashboard shows it. */
export interface DashboardEntry {
  ws_id: string;
  name: string;
  state: string;
  tokens: number;
  context_ratio: number;
  activity: string;
  model: string;
  model_alias: string;
  queued: number;
  user_id: string | null;
}

/** A memory as a person lists it. */
export interface MemoryEntry {
  memory_id: string;
  scope: string;
  key: string;
  value: string;
}

/**
 * The gateway's view of the server. Nothing else in the gateway makes requests to it. `actor` is the platform user for
 * whom something is done: that person's rights decide. Nothing throws but a broken assumption.
 */
export type ServerClient = ReturnType<typeof allMethods>;

export function createServerClient(connection: ServerConnection): ServerClient {
  return allMethods(connection);
}

function allMethods(connection: ServerConnection) {
  const channel = { channel_type: connection.channel_type };
  const call = <Value>(
    method: ServerRequest["method"],
    path: string,
    rest: Partial<ServerRequest> = {},
  ): Promise<ServerAnswer<Value>> =>
    request<Value>(connection, { method, path, repeatable: method !== "POST", ...rest });
  return {
    connection,
    health: () => call<{ status: string; version: string }>("GET", PATHS.health),
    ...workstreamMethods(connection, call),
    ...peopleMethods(channel, call),
    ...placeMethods(channel, call),
    heartbeat: (json: ServiceBody) => call<unknown>("POST", PATHS.services, { json, repeatable: true }),
    removeService: (service_type: string, service_id: string) =>
      call<unknown>("DELETE", pathOf(PATHS.service, { service_type, service_id })),
  };
}

type Call = <Value>(
  method: ServerRequest["method"],
  path: string,
  rest?: Partial<ServerRequest>,
) => Promise<ServerAnswer<Value>>;

function workstreamMethods(connection: ServerConnection, call: Call) {
  return {
    /** Asked for with a `ws_id`, it may be asked for again. */
    createWorkstream: (actor: Actor, json: NewWorkstreamBody) =>
      call<NewWorkstreamAnswer>("POST", PATHS.workstreams_new, { actor, json, repeatable: json.ws_id !== undefined }),
    send: (actor: Actor, ws_id: string, json: SendBody & { client_send_id: string }) =>
      call<SendAnswer>("POST", pathOf(PATHS.send, { ws_id }), { actor, json, repeatable: true }),
    withdraw: (actor: Actor, ws_id: string, msg_id: string) =>
      call<unknown>("DELETE", pathOf(PATHS.send_withdraw, { ws_id, msg_id }), { actor }),
    /** Without an actor only to say no. */
    approve: (actor: Actor | undefined, ws_id: string, json: ApproveBody) =>
      call<ApproveAnswer>("POST", pathOf(PATHS.approve, { ws_id }), { actor, json }),
    /** Without an actor only to reject. */
    plan: (actor: Actor | undefined, ws_id: string, feedback: string, review_id: string) =>
      call<unknown>("POST", pathOf(PATHS.plan, { ws_id }), { actor, json: { feedback, review_id } }),
    mcpRequest: (actor: Actor, ws_id: string, request_id: string) =>
      call<OpenMcpRequest>("GET", pathOf(PATHS.mcp_request, { ws_id, request_id }), { actor }),
    /** Without an actor only to say no. */
    answerMcpRequest: (actor: Actor | undefined, ws_id: string, request_id: string, json: McpRequestBody) =>
      call<McpRequestAnswer>("POST", pathOf(PATHS.mcp_request, { ws_id, request_id }), { actor, json }),
    beginSignIn: (actor: Actor, server: string) =>
      call<BeginSignInAnswer>("POST", PATHS.mcp_sign_ins, { actor, json: { server } }),
    endSignIn: (actor: Actor, server: string) =>
      call<unknown>("DELETE", pathOf(PATHS.mcp_sign_in, { server }), { actor }),
    cancel: (actor: Actor, ws_id: string) =>
      call<CancelAnswer>("POST", pathOf(PATHS.cancel, { ws_id }), { actor, json: {}, repeatable: true }),
    rewind: (actor: Actor, ws_id: string, turns: number) =>
      call<unknown>("POST", pathOf(PATHS.rewind, { ws_id }), { actor, json: { turns } }),
    retry: (actor: Actor, ws_id: string) => call<unknown>("POST", pathOf(PATHS.retry, { ws_id }), { actor, json: {} }),
    close: (actor: Actor | undefined, ws_id: string, reason: string) =>
      call<unknown>("POST", pathOf(PATHS.close, { ws_id }), { actor, json: { reason }, repeatable: true }),
    command: (actor: Actor, ws_id: string, command: string) =>
      call<{ output?: string }>("POST", PATHS.command, { actor, json: { command, ws_id } }),
    history: (actor: Actor | undefined, ws_id: string, limit: number) =>
      call<HistoryAnswer>("GET", pathOf(PATHS.history, { ws_id }), { actor, query: { limit: String(limit) } }),
    /** A file of the workstream's folder, whole. */
    file: (actor: Actor, ws_id: string, path: string): Promise<ServerAnswer<ViewFile>> =>
      download(connection, { method: "GET", path: pathOf(PATHS.workspace_file, { ws_id }), actor, query: { path } }),
    models: (actor: Actor) => call<ModelsAnswer>("GET", PATHS.models, { actor }),
    dashboard: (actor: Actor) => call<{ workstreams: DashboardEntry[] }>("GET", PATHS.dashboard, { actor }),
    invite: (
      actor: Actor,
      ws_id: string,
      json: { username: string } | { channel_type: string; channel_user_id: string },
    ) => call<{ name: string }>("POST", pathOf(PATHS.invite, { ws_id }), { actor, json, repeatable: true }),
    async upload(
      actor: Actor,
      ws_id: string,
      file: ViewFile,
      media_type: string | null,
    ): Promise<ServerAnswer<AttachmentReference>> {
      const form = new FormData();
      const bytes = new Uint8Array(file.bytes);
      form.set("file", new Blob([bytes], media_type === null ? {} : { type: media_type }), file.name);
      return call<AttachmentReference>("POST", pathOf(PATHS.attachments, { ws_id }), { actor, form });
    },
    /** The frames of the channel stream as they come; ends when the connection does, throws when it cannot be made. */
    openChannelStream: (signal: AbortSignal): Promise<Response> =>
      fetchRaw(
        connection,
        {
          method: "GET",
          path: pathOf(PATHS.channel_events, { channel_type: connection.channel_type }),
          repeatable: false,
        },
        signal,
      ),
  };
}

function peopleMethods(channel: { channel_type: string }, call: Call) {
  return {
    linkOf: (channel_user_id: string) =>
      call<ChannelLink>("GET", pathOf(PATHS.channel_link_of, { ...channel, channel_user_id })),
    linksOfUser: (username: string) =>
      call<{ links: ChannelLink[] }>("GET", pathOf(PATHS.channel_links_of_user, { username })),
    link: (channel_user_id: string, token: string) =>
      call<ChannelLink>("POST", pathOf(PATHS.channel_link, channel), { json: { channel_user_id, token } }),
    unlink: (channel_user_id: string) =>
      call<unknown>("DELETE", pathOf(PATHS.channel_link_of, { ...channel, channel_user_id })),
    memories: (actor: Actor) => call<{ memories: MemoryEntry[] }>("GET", PATHS.memories, { actor }),
    forget: (actor: Actor, memory_id: string) =>
      call<unknown>("DELETE", pathOf(PATHS.memory, { memory_id }), { actor }),
    grants: (actor: Actor) => call<{ grants: Grant[] }>("GET", PATHS.admin_grants, { actor }),
    extendBudget: (actor: Actor, json: ExtendBudgetBody) =>
      call<ExtendBudgetAnswer>("POST", PATHS.admin_budgets, { actor, json }),
    revokeGrant: (actor: Actor, grant_id: string) =>
      call<unknown>("DELETE", pathOf(PATHS.admin_grant, { grant_id }), { actor }),
  };
}

function placeMethods(channel: { channel_type: string }, call: Call) {
  return {
    routes: () => call<{ routes: ChannelRoute[] }>("GET", pathOf(PATHS.channel_routes, channel)),
    route: (channel_id: string) => call<ChannelRoute>("GET", pathOf(PATHS.channel_route, { ...channel, channel_id })),
    /** Whose conversation is shown there, by the id on this platform. */
    owner: (channel_id: string) =>
      call<ChannelOwnerAnswer>("GET", pathOf(PATHS.channel_owner, { ...channel, channel_id })),
    /** Makes a route, or answers the one that is there. */
    createRoute: (json: RouteBody) =>
      call<ChannelRoute>("POST", pathOf(PATHS.channel_routes, channel), { json, repeatable: true }),
    removeRoute: (channel_id: string) =>
      call<unknown>("DELETE", pathOf(PATHS.channel_route, { ...channel, channel_id })),
    moveCursor: (channel_id: string, json: CursorBody) =>
      call<ChannelRoute>("POST", pathOf(PATHS.channel_cursor, { ...channel, channel_id }), { json, repeatable: true }),
    marks: () => call<{ marks: ChannelMark[] }>("GET", pathOf(PATHS.channel_marks, channel)),
    moveMarks: (json: MarksBody) => call<unknown>("POST", pathOf(PATHS.channel_marks, channel), { json }),
    closingTold: (channel_id: string, json: ClosingToldBody) =>
      call<unknown>("POST", pathOf(PATHS.channel_closing, { ...channel, channel_id }), { json, repeatable: true }),
    savePosted: (json: PostedBody) =>
      call<unknown>("POST", pathOf(PATHS.channel_posted, channel), { json, repeatable: true }),
    posted: (message_id: string) =>
      call<PostedMessage>("GET", pathOf(PATHS.channel_posted_message, { ...channel, message_id })),
    lastPosted: (channel_id: string) =>
      call<{ posted: PostedMessage[] }>("GET", pathOf(PATHS.channel_posted, channel), { query: { channel_id } }),
    postedShowing: (ws_id: string, shows: string) =>
      call<{ posted: PostedMessage[] }>("GET", pathOf(PATHS.channel_posted, channel), { query: { ws_id, shows } }),
  };
}
