import { areScopes } from "../../auth/scopes.ts";
import type { ChannelLink } from "../../protocol/channel.ts";
import { timestamp } from "../../lib/clock.ts";
import {
  AdminLinkBody,
  AdminUnlinkBody,
  AuditAnswer,
  AuditQuery,
  GrantsAnswer,
  GrantsQuery,
} from "../../protocol/admin.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import { ChannelLinkAnswer, ChannelLinksAnswer } from "../../protocol/channel.ts";
import { PATHS } from "../../protocol/paths.ts";
import { audit, type HttpContext, personOf } from "../context.ts";
import { conflict, invalid, notFound } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** Rows of the audit trail in an answer whose request names no limit. */
const AUDIT_DEFAULT = 100;

/** Links, grants and the audit trail: who may act as whom, what runs unasked, and who decided so. */
export function oversightRoutes(context: HttpContext): Route[] {
  return [...linkRoutes(context), ...grantRoutes(context)];
}

function linkRoutes(context: HttpContext): Route[] {
  const { store, clock } = context;
  return [
    route({
      method: "GET",
      path: PATHS.admin_links,
      summary: "All platform accounts that are linked",
      scope: "approve",
      answer: ChannelLinksAnswer,
      async handle() {
        return { links: await store.channels.listLinks() };
      },
    }),
    route({
      method: "POST",
      path: PATHS.admin_links,
      summary: "Links a platform account to a person",
      scope: "approve",
      body: AdminLinkBody,
      answer: ChannelLinkAnswer,
      async handle({ principal, body }): Promise<ChannelLink> {
        const { user_id, channel_type, channel_user_id } = body;
        const user = await store.users.get(user_id);
        if (user === null) throw notFound("There is no such person.");
        const scopes = body.scopes ?? user.scopes;
        if (!areScopes(scopes)) throw invalid('"scopes" may hold read, write and approve.', { field: "scopes" });
        const link = { channel_type, channel_user_id, user_id, scopes, created: timestamp(clock) };
        if (!(await store.channels.link(link))) throw conflict("That platform account is linked already.");
        await audit(context, principal.user_id, "link.created", `${channel_type}:${channel_user_id}`, { user_id });
        return { ...link, username: user.username, display_name: user.display_name };
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.admin_links,
      summary: "Unlinks a platform account",
      scope: "approve",
      body: AdminUnlinkBody,
      answer: OkAnswer,
      async handle({ principal, body }) {
        const { channel_type, channel_user_id } = body;
        if (!(await store.channels.unlink(channel_type, channel_user_id))) throw notFound("There is no such link.");
        await audit(context, principal.user_id, "link.removed", `${channel_type}:${channel_user_id}`);
        return { status: "ok" };
      },
    }),
  ];
}

function grantRoutes(context: HttpContext): Route[] {
  const { store, clock } = context;
  return [
    route({
      method: "GET",
      path: PATHS.admin_grants,
      summary: "What runs unasked since somebody said always",
      scope: "approve",
      query: GrantsQuery,
      answer: GrantsAnswer,
      async handle({ principal, query }) {
        const { ws_id, user_id = ws_id === undefined ? personOf(principal).user_id : undefined } = query;
        const filter = { ...(ws_id === undefined ? {} : { ws_id }), ...(user_id === undefined ? {} : { user_id }) };
        return { grants: await store.approvals.grants(filter) };
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.admin_grant,
      summary: "Takes a grant back",
      scope: "approve",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const grant_id = params["grant_id"] ?? "";
        if (!(await store.approvals.revokeGrant(grant_id, timestamp(clock)))) {
          throw notFound("There is no such live grant.");
        }
        await audit(context, principal.user_id, "grant.revoked", grant_id);
        return { status: "ok" };
      },
    }),
    route({
      method: "GET",
      path: PATHS.admin_audit,
      summary: "Who did what, newest first",
      scope: "approve",
      query: AuditQuery,
      answer: AuditAnswer,
      async handle({ query }) {
        return { entries: await store.audit.list({ ...query, limit: query.limit ?? AUDIT_DEFAULT }) };
      },
    }),
  ];
}
