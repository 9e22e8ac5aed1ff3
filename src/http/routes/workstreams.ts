import type { Principal } from "../../contracts/principal.ts";
import type { WorkstreamRow } from "../../contracts/store.ts";
import { parseScopes } from "../../auth/scopes.ts";
import {
  DashboardAnswer,
  HistoryAnswerSchema,
  HistoryQuery,
  InviteAnswer,
  InviteBody,
  OkAnswer,
  SavedWorkstreamsAnswer,
  WorkstreamsAnswer,
} from "../../protocol/answers.ts";
import { startOfUtcDay, utcDay } from "../../lib/clock.ts";
import { PATHS } from "../../protocol/paths.ts";
import { CloseBody, NewWorkstreamAnswer, NewWorkstreamBody } from "../../protocol/workstream.ts";
import { accessWorkstream } from "../access.ts";
import { audit, type HttpContext, personOf } from "../context.ts";
import { requireSuccess } from "../engine_failure.ts";
import { conflict, forbidden, invalid, notFound, unknownWorkstream } from "../failures.ts";
import { readHistory } from "../history.ts";
import { incomingMessage } from "../incoming.ts";
import { type Route, route } from "../route.ts";

/** Workstreams in one list. */
const LIST_MAX = 1000;

/** Workstreams that can be opened again, in one list. */
const SAVED_MAX = 50;

/** Messages of a history whose request names no limit. */
const HISTORY_DEFAULT = 200;

export function workstreamRoutes(context: HttpContext): Route[] {
  return [...listRoutes(context), ...lifeRoutes(context)];
}

function listRoutes({ store, engine, clock, options, started }: HttpContext): Route[] {
  return [
    route({
      method: "GET",
      path: PATHS.workstreams,
      summary: "The open workstreams of the caller, and those the caller is invited into",
      scope: "read",
      answer: WorkstreamsAnswer,
      async handle({ principal }) {
        const { user_id } = personOf(principal);
        const rows = await store.workstreams.list({ user_id, with_invited: true, limit: LIST_MAX });
        const workstreams = rows.map(({ ws_id, name, state, kind, parent_ws_id, user_id: owner }) => {
          return { ws_id, name, state, kind, parent_ws_id, user_id: owner };
        });
        return { workstreams };
      },
    }),
    route({
      method: "GET",
      path: PATHS.workstreams_saved,
      summary: "Workstreams of the caller that can be opened again, closed ones too",
      scope: "read",
      answer: SavedWorkstreamsAnswer,
      async handle({ principal }) {
        const { user_id } = personOf(principal);
        const rows = await store.workstreams.list({ user_id, include_closed: true, kinds: ["main"], limit: SAVED_MAX });
        const workstreams = rows.map(({ ws_id, alias, title, name, created, updated, message_count }) => {
          return { ws_id, alias, title, name, created, updated, message_count };
        });
        return { workstreams };
      },
    }),
    route({
      method: "GET",
      path: PATHS.dashboard,
      summary: "What the caller's workstreams are doing",
      scope: "read",
      answer: DashboardAnswer,
      async handle({ principal }) {
        const { user_id } = personOf(principal);
        const workstreams = await engine.dashboard({ user_id });
        const since = startOfUtcDay(utcDay(clock));
        const aggregate = {
          usage_today: await store.usage.total({ user_id, since }),
          total_tokens: workstreams.reduce((sum, row) => sum + row.tokens, 0),
          total_tool_calls: workstreams.reduce((sum, row) => sum + row.tool_calls, 0),
          active_count: workstreams.filter((row) => row.state !== "idle").length,
          total_count: workstreams.length,
          uptime_seconds: Math.round((clock.now() - started) / 10) / 100,
          node: options.node_id,
        };
        return { workstreams, aggregate };
      },
    }),
    route({
      method: "GET",
      path: PATHS.history,
      summary: "The newest messages of a conversation",
      scope: "read",
      gateway_too: true,
      query: HistoryQuery,
      answer: HistoryAnswerSchema,
      async handle({ principal, params, query }) {
        const row = await accessWorkstream(store, principal, params["ws_id"], "see");
        return readHistory(store.journal, row.ws_id, row.last_seq, query.limit ?? HISTORY_DEFAULT);
      },
    }),
  ];
}

function lifeRoutes(context: HttpContext): Route[] {
  const { store, engine } = context;
  return [
    route({
      method: "POST",
      path: PATHS.workstreams_new,
      summary: "Starts a workstream or opens an earlier one again",
      scope: "write",
      gateway_too: true,
      body: NewWorkstreamBody,
      answer: NewWorkstreamAnswer,
      handle: ({ principal, body }) => startWorkstream(context, principal, body),
    }),
    route({
      method: "POST",
      path: PATHS.close,
      summary: "Closes a workstream; it can be opened again",
      scope: "write",
      gateway_too: true,
      body: CloseBody,
      answer: OkAnswer,
      async handle({ principal, params, body }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "close");
        requireSuccess(await engine.close(ws_id, body.reason ?? "closed"));
        return { status: "ok" };
      },
    }),
    route({
      method: "POST",
      path: PATHS.delete,
      summary: "Deletes a workstream with all that belongs to it",
      scope: "write",
      body: CloseBody,
      answer: OkAnswer,
      async handle({ principal, params, body }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "steer");
        requireSuccess(await engine.remove(ws_id));
        await audit(context, principal.user_id, "workstream.deleted", ws_id, { reason: body.reason ?? null });
        return { status: "ok" };
      },
    }),
    route({
      method: "POST",
      path: PATHS.invite,
      summary: "Lets another person see a workstream and speak in it",
      scope: "write",
      body: InviteBody,
      answer: InviteAnswer,
      async handle({ principal, params, body }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "steer");
        const user = await invitedUser(context, body);
        await store.workstreams.invite(ws_id, user.user_id);
        await audit(context, principal.user_id, "workstream.invited", ws_id, { user_id: user.user_id });
        return { status: "ok", user_id: user.user_id, name: user.display_name };
      },
    }),
  ];
}

async function invitedUser(
  { store }: HttpContext,
  body: InviteBody,
): Promise<{ user_id: string; display_name: string }> {
  const { username, channel_type, channel_user_id } = body;
  if (username !== undefined) {
    const user = await store.users.byUsername(username.toLowerCase());
    if (user === null) throw notFound("There is no such person here.");
    return user;
  }
  if (channel_type === undefined || channel_user_id === undefined) {
    throw invalid("Name the person by username, or by channel_type and channel_user_id.");
  }
  const link = await store.channels.linkOf(channel_type, channel_user_id);
  if (link === null) throw notFound("That person has not linked an account.");
  return link;
}

async function startWorkstream(
  context: HttpContext,
  principal: Principal,
  body: NewWorkstreamBody,
): Promise<NewWorkstreamAnswer> {
  const owner = await ownerOf(context, principal, body.user_id);
  if (owner.role === "talk") throw forbidden("Your role lets you speak, but not start a workstream.");
  if ((body.auto_approve === true || (body.auto_approve_tools ?? []).length > 0) && !owner.scopes.has("approve")) {
    throw forbidden('Only an account that may approve (scope "approve") can start a workstream with auto_approve.');
  }
  const resume = body.resume_ws === undefined ? null : await resumed(context, owner, body.resume_ws);
  const row = await createOrFind(context, owner, body, resume);
  const text = body.initial_message?.trim() ?? "";
  if (text !== "" || (body.attachment_ids ?? []).length > 0) {
    const client_send_id = body.client_send_id ?? (body.ws_id === undefined ? undefined : `new:${body.ws_id}`);
    const message = await incomingMessage(context, owner, row.workstream.ws_id, {
      message: body.initial_message ?? "",
      ...(client_send_id === undefined ? {} : { client_send_id }),
      ...(body.attachment_ids === undefined ? {} : { attachment_ids: body.attachment_ids }),
    });
    requireSuccess(await context.engine.send(row.workstream.ws_id, message));
    context.metrics.messageAccepted();
  }
  const { ws_id, name } = row.workstream;
  return { ws_id, name, resumed: row.resumed, message_count: row.message_count };
}

/** For whom a workstream is made: the caller, or the person whom a gateway names. */
async function ownerOf({ store }: HttpContext, principal: Principal, user_id: string | undefined): Promise<Principal> {
  if (user_id === undefined || user_id === principal.user_id) {
    personOf(principal);
    return principal;
  }
  if (!principal.is_service || principal.actor !== null) {
    throw forbidden("Only a gateway may name another owner.");
  }
  const user = await store.users.get(user_id);
  if (user === null) throw invalid('"user_id" is not a person here.', { field: "user_id" });
  const scopes = parseScopes(user.scopes);
  if (!scopes.has("write")) throw forbidden("This person may not start workstreams.");
  return { ...principal, user_id, username: user.username, display_name: user.display_name, scopes };
}

async function resumed({ store }: HttpContext, principal: Principal, name: string): Promise<string> {
  const row = await store.workstreams.resolve(name);
  if (row === null) throw unknownWorkstream();
  return (await accessWorkstream(store, principal, row.ws_id, "steer")).ws_id;
}

async function createOrFind(
  { engine, store }: HttpContext,
  owner: Principal,
  body: NewWorkstreamBody,
  resume_ws: string | null,
): Promise<{ workstream: WorkstreamRow; resumed: boolean; message_count: number }> {
  const { ws_id, name, model, auto_approve, auto_approve_tools } = body;
  const result = await engine.create({
    user_id: owner.user_id,
    ...(ws_id === undefined ? {} : { ws_id }),
    ...(name === undefined ? {} : { name }),
    ...(model === undefined ? {} : { model_alias: model }),
    ...(auto_approve === undefined ? {} : { auto_approve }),
    ...(auto_approve_tools === undefined ? {} : { auto_approve_tools }),
    ...(resume_ws === null ? {} : { resume_ws }),
  });
  if (result.ok) return result;
  if (result.reason === "unknown_model") throw invalid(result.error, { field: "model" });
  if (result.reason === "unknown_workstream") throw notFound(result.error);
  // A client that lost the answer asks again with the same id: it gets the same workstream.
  const workstream = ws_id === undefined ? null : await store.workstreams.get(ws_id);
  if (workstream === null || workstream.user_id !== owner.user_id) throw conflict(result.error);
  return { workstream, resumed: false, message_count: workstream.message_count };
}
