import { isApiToken, isTokenAlive } from "../../auth/api_token.ts";
import { createLoginLimiter } from "../../auth/login_limiter.ts";
import { formatScopes, intersectScopes, parseScopes } from "../../auth/scopes.ts";
import { timestamp } from "../../lib/clock.ts";
import { sha256 } from "../../lib/ids.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import {
  type ChannelLink,
  ChannelLinkAnswer,
  ChannelLinksAnswer,
  ChannelOwnerAnswer,
  type ChannelRoute,
  ChannelRouteAnswer,
  ChannelRoutesAnswer,
  LinkBody,
  RouteBody,
  UnlinkBody,
} from "../../protocol/channel.ts";
import { PATHS } from "../../protocol/paths.ts";
import { audit, type HttpContext } from "../context.ts";
import { conflict, invalid, notFound, nothingShown, rateLimited, unknownWorkstream } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** Wrong tokens that one platform user may try in an hour. */
const LINK_FAILURES_MAX = 5;
const LINK_WINDOW_MS = 3600_000;

/** What a gateway keeps here: who is who, and what is shown where. */
export function channelRoutes(context: HttpContext): Route[] {
  return [...linkRoutes(context), ...placeRoutes(context)];
}

function linkRoutes(context: HttpContext): Route[] {
  const { store } = context;
  const limiter = createLoginLimiter(context.clock, LINK_FAILURES_MAX, LINK_WINDOW_MS);

  const unlink = async (channel_type: string, channel_user_id: string): Promise<{ status: "ok" }> => {
    const link = await store.channels.linkOf(channel_type, channel_user_id);
    if (!(await store.channels.unlink(channel_type, channel_user_id))) throw notFound("This person is not linked.");
    await audit(context, link?.user_id ?? null, "link.removed", `${channel_type}:${channel_user_id}`);
    return { status: "ok" };
  };

  return [
    route({
      method: "POST",
      path: PATHS.channel_link,
      summary: "Links a platform user to the account of an API token",
      scope: "service",
      body: LinkBody,
      answer: ChannelLinkAnswer,
      async handle({ params, body }) {
        const channel_type = params["channel_type"] ?? "";
        const admission = limiter.begin([`${channel_type}:${body.channel_user_id}`]);
        if (!admission.ok) throw rateLimited("Too many wrong tokens. Wait a while.", admission.retry_after_s);
        const link = await linkByToken(context, channel_type, body);
        admission.attempt.succeed();
        return link;
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.channel_link,
      summary: "Unlinks a platform user named in the body",
      scope: "service",
      body: UnlinkBody,
      answer: OkAnswer,
      handle: ({ params, body }) => unlink(params["channel_type"] ?? "", body.channel_user_id),
    }),
    route({
      method: "GET",
      path: PATHS.channel_link_of,
      summary: "The account of a platform user",
      scope: "service",
      answer: ChannelLinkAnswer,
      async handle({ params }) {
        const link = await store.channels.linkOf(params["channel_type"] ?? "", params["channel_user_id"] ?? "");
        if (link === null) throw notFound("This person is not linked.");
        return link;
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.channel_link_of,
      summary: "Unlinks a platform user",
      scope: "service",
      answer: OkAnswer,
      handle: ({ params }) => unlink(params["channel_type"] ?? "", params["channel_user_id"] ?? ""),
    }),
    route({
      method: "GET",
      path: PATHS.channel_links_of_user,
      summary: "Where a person can be reached, newest link first",
      scope: "service",
      answer: ChannelLinksAnswer,
      async handle({ params }) {
        const user = await store.users.byUsername(params["username"] ?? "");
        return { links: user === null ? [] : await store.channels.linksOfUser(user.user_id) };
      },
    }),
  ];
}

async function linkByToken(context: HttpContext, channel_type: string, body: LinkBody): Promise<ChannelLink> {
  const { store, clock } = context;
  const token = body.token.trim();
  const row = isApiToken(token) ? await store.users.tokenByHash(sha256(token)) : null;
  const user = row === null ? null : await store.users.get(row.user_id);
  if (row === null || user === null || !isTokenAlive(row, clock.now())) {
    throw invalid("This token is not valid. Ask for a new one.", { field: "token" });
  }
  const scopes = formatScopes(intersectScopes(parseScopes(row.scopes), parseScopes(user.scopes)));
  const { user_id, username, display_name } = user;
  const link = { channel_type, channel_user_id: body.channel_user_id, user_id, scopes, created: timestamp(clock) };
  if (!(await store.channels.link(link))) throw conflict("This person is linked already. Unlink first.");
  await audit(context, user_id, "link.created", `${channel_type}:${body.channel_user_id}`, { token_id: row.token_id });
  return { ...link, username, display_name };
}

function placeRoutes(context: HttpContext): Route[] {
  const { store } = context;
  return [
    route({
      method: "GET",
      path: PATHS.channel_routes,
      summary: "Where workstreams are shown",
      scope: "service",
      answer: ChannelRoutesAnswer,
      async handle({ params }) {
        return { routes: await store.channels.listRoutes(params["channel_type"] ?? "") };
      },
    }),
    route({
      method: "POST",
      path: PATHS.channel_routes,
      summary: "Shows a workstream in a channel, or answers what is shown there",
      scope: "service",
      body: RouteBody,
      answer: ChannelRouteAnswer,
      handle: ({ params, body }) => createRoute(context, params["channel_type"] ?? "", body),
    }),
    route({
      method: "GET",
      path: PATHS.channel_route,
      summary: "What is shown in a channel",
      scope: "service",
      answer: ChannelRouteAnswer,
      handle: ({ params }) => routeAt(context, params),
    }),
    route({
      method: "GET",
      path: PATHS.channel_owner,
      summary: "Whose conversation is shown in a channel",
      scope: "service",
      answer: ChannelOwnerAnswer,
      handle: async ({ params }) => ownerOf(context, await routeAt(context, params)),
    }),
    route({
      method: "DELETE",
      path: PATHS.channel_route,
      summary: "Shows nothing in a channel any more",
      scope: "service",
      answer: OkAnswer,
      async handle({ params }) {
        const { channel_type = "", channel_id = "" } = params;
        const shown = await store.channels.route(channel_type, channel_id);
        await store.channels.removeRoute(channel_type, channel_id);
        if (shown === null) throw nothingShown();
        context.route_changes.publish({ kind: "removed", route: shown });
        return { status: "ok" };
      },
    }),
  ];
}

async function ownerOf({ store }: HttpContext, { ws_id, channel_type }: ChannelRoute): Promise<ChannelOwnerAnswer> {
  const owner = (await store.workstreams.get(ws_id))?.user_id ?? null;
  const links = owner === null ? [] : await store.channels.linksOfUser(owner);
  const link = links.find((each) => each.channel_type === channel_type);
  return { channel_user_id: link?.channel_user_id ?? null };
}

async function routeAt({ store }: HttpContext, params: Readonly<Record<string, string>>): Promise<ChannelRoute> {
  const shown = await store.channels.route(params["channel_type"] ?? "", params["channel_id"] ?? "");
  if (shown === null) throw nothingShown();
  return shown;
}

async function createRoute(context: HttpContext, channel_type: string, body: RouteBody): Promise<ChannelRoute> {
  const { store, clock, route_changes } = context;
  const workstream = await store.workstreams.get(body.ws_id);
  if (workstream === null) throw unknownWorkstream();
  const wanted: ChannelRoute = {
    channel_type,
    channel_id: body.channel_id,
    ws_id: body.ws_id,
    kind: body.kind,
    guild_id: body.guild_id ?? null,
    parent_channel_id: body.parent_channel_id ?? null,
    last_inbound_id: body.last_inbound_id ?? null,
    // A thread shows a conversation from its beginning; a DM joins one that is shown elsewhere already.
    cursor_seq: body.cursor_seq ?? (body.kind === "thread" ? 0 : workstream.last_seq),
    created: timestamp(clock),
  };
  const made = await store.channels.createRoute(wanted);
  if (made.ws_id === wanted.ws_id) route_changes.publish({ kind: "created", route: made });
  return made;
}
