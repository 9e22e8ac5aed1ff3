import { newApiToken } from "../../auth/api_token.ts";
import { areScopes, formatScopes, intersectScopes, parseScopes } from "../../auth/scopes.ts";
import { newUserRow } from "../../auth/setup.ts";
import type { UserRow } from "../../contracts/store.ts";
import { DAY_MS, timestamp } from "../../lib/clock.ts";
import {
  NewTokenAnswer,
  NewTokenBody,
  NewUserBody,
  TokensAnswer,
  UserAnswer,
  UserQuery,
  UsersAnswer,
} from "../../protocol/admin.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import { SCOPES } from "../../protocol/auth.ts";
import { PATHS } from "../../protocol/paths.ts";
import { audit, type HttpContext, personOf } from "../context.ts";
import { conflict, invalid, notFound } from "../failures.ts";
import { type Route, route } from "../route.ts";

export function adminRoutes(context: HttpContext): Route[] {
  return [...userRoutes(context), ...tokenRoutes(context)];
}

function userRoutes(context: HttpContext): Route[] {
  const { store, clock } = context;
  return [
    route({
      method: "GET",
      path: PATHS.admin_users,
      summary: "All people",
      scope: "approve",
      answer: UsersAnswer,
      async handle() {
        return { users: (await store.users.list()).map(shownUser) };
      },
    }),
    route({
      method: "POST",
      path: PATHS.admin_users,
      summary: "Creates a person",
      scope: "approve",
      body: NewUserBody,
      answer: UserAnswer,
      async handle({ principal, body }) {
        const { username, display_name = null, password = null } = body;
        const scopes = checkedScopes(body.scopes);
        const row = await newUserRow({ username, display_name, password, scopes }, clock);
        if (row === null) throw invalid('"username" does not have the right form.', { field: "username" });
        if (!(await store.users.create(row))) throw conflict("That user name is taken.");
        await audit(context, principal.user_id, "user.created", row.user_id, { username: row.username, scopes });
        return shownUser(row);
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.admin_user,
      summary: "Deletes a person with tokens, links and grants",
      scope: "approve",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const user_id = params["user_id"] ?? "";
        if (user_id === principal.user_id) throw conflict("You cannot delete your own account.");
        if (!(await store.users.remove(user_id))) throw notFound("There is no such person.");
        await audit(context, principal.user_id, "user.deleted", user_id);
        return { status: "ok" };
      },
    }),
  ];
}

function tokenRoutes(context: HttpContext): Route[] {
  const { store, clock } = context;
  return [
    route({
      method: "GET",
      path: PATHS.admin_tokens,
      summary: "API tokens, of one person or of all",
      scope: "approve",
      query: UserQuery,
      answer: TokensAnswer,
      async handle({ query }) {
        const rows = await store.users.listTokens(query.user_id);
        return { tokens: rows.map(({ token_hash: _secret, ...shown }) => shown) };
      },
    }),
    route({
      method: "POST",
      path: PATHS.admin_tokens,
      summary: "Creates an API token; it is shown this once",
      scope: "approve",
      body: NewTokenBody,
      answer: NewTokenAnswer,
      async handle({ principal, body }) {
        const user_id = body.user_id ?? personOf(principal).user_id;
        const user = await store.users.get(user_id);
        if (user === null) throw notFound("There is no such person.");
        const wanted = parseScopes(checkedScopes(body.scopes));
        const scopes = formatScopes(intersectScopes(wanted, parseScopes(user.scopes)));
        const days = body.expires_days;
        const expires = days === undefined ? null : new Date(clock.now() + days * DAY_MS).toISOString();
        const about = { user_id, name: body.name ?? "", scopes, created: timestamp(clock), expires };
        const { token, row } = newApiToken(about);
        await store.users.createToken(row);
        await audit(context, principal.user_id, "token.created", row.token_id, { user_id, scopes, expires });
        return { token_id: row.token_id, token, scopes, expires };
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.admin_token,
      summary: "Revokes an API token at once",
      scope: "approve",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const token_id = params["token_id"] ?? "";
        if (!(await store.users.revokeToken(token_id, timestamp(clock)))) {
          throw notFound("There is no such live token.");
        }
        await audit(context, principal.user_id, "token.revoked", token_id);
        return { status: "ok" };
      },
    }),
  ];
}

function checkedScopes(text: string | undefined): string {
  const scopes = text ?? SCOPES.join(",");
  if (!areScopes(scopes)) {
    throw invalid(`"scopes" may hold ${SCOPES.join(", ")}, with commas between.`, { field: "scopes" });
  }
  return formatScopes(parseScopes(scopes));
}

function shownUser({ user_id, username, display_name, scopes, password_hash, created }: UserRow): UserAnswer {
  return { user_id, username, display_name, scopes, has_password: password_hash !== null, created };
}
