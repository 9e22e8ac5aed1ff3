import type { FastifyRequest } from "fastify";
import type { Credentials } from "../auth/authenticate.ts";
import type { Principal } from "../contracts/principal.ts";
import { ACTOR_HEADER, ACTOR_ROLE_HEADER, COOKIE_NAME, type Scope } from "../protocol/auth.ts";
import { AppError } from "../protocol/error.ts";
import type { HttpContext } from "./context.ts";
import { forbidden, invalid, rateLimited, unauthorized, unlinked } from "./failures.ts";
import type { Route } from "./route.ts";
import { isHostAllowed, isLocalRequest, isSameOrigin } from "./security.ts";

/** Whoever needs no account: may nothing. */
const NOBODY: Principal = {
  user_id: null,
  username: "",
  display_name: "",
  scopes: new Set(),
  is_service: false,
  actor: null,
  role: null,
  credential_id: "",
};

/** Lets a request pass to its route, or throws why not. Answers who asks. */
export async function admit(context: HttpContext, route: Route, request: FastifyRequest): Promise<Principal> {
  const { host, allowed_hosts } = context.options;
  if (!isHostAllowed(request, host, allowed_hosts)) {
    throw new AppError(421, "forbidden", "This server does not answer to that host name.");
  }
  if (route.unlimited === true) return NOBODY;
  if (route.scope === "public" || (route.scope === "loopback_or_read" && isLocalRequest(request))) {
    limit(context, `address:${request.ip}`);
    return NOBODY;
  }
  const principal = await identify(context, request);
  if (route.gateway_too === true && principal.is_service && principal.actor === null) return principal;
  requireScope(principal, route.scope === "loopback_or_read" ? "read" : route.scope);
  return principal;
}

/** Who asks, counted by the rate limit: a known principal by its credential, anybody else by address. */
async function identify(context: HttpContext, request: FastifyRequest): Promise<Principal> {
  const authentication = await context.authenticator.authenticate(credentialsOf(request));
  if (!authentication.ok) {
    limit(context, `address:${request.ip}`);
    switch (authentication.reason) {
      case "missing":
      case "invalid":
        throw unauthorized();
      case "unlinked":
        throw unlinked();
      case "actor_not_allowed":
        throw forbidden("Only a gateway may act for somebody else.");
      case "actor_malformed":
        throw invalid(`The header ${ACTOR_HEADER} must read platform:user id, such as discord:123.`);
    }
  }
  const { principal, source } = authentication;
  // A gateway's own book-keeping serves many people at once; each of them is counted when it acts for them.
  if (!principal.is_service || principal.actor !== null) limit(context, principal.credential_id);
  if (source === "cookie" && request.method !== "GET" && !isSameOrigin(request)) {
    throw forbidden("A session cookie alone is not enough for a request that comes from another page.");
  }
  return principal;
}

/** What each scope lets people do, for those who lack it. */
const SCOPE_WORDS = {
  read: "look at this",
  write: "write here",
  approve: "decide or administrate",
  service: "do this: it is for gateways",
} as const satisfies Record<Scope, string>;

function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  // The gateway's own routes stay open to it while it acts for a person.
  if (scope === "service" && principal.is_service) return;
  if (principal.is_service && principal.actor === null && scope !== "service") {
    throw forbidden("A gateway must say for whom it acts: send the header X-Turnstone-Actor.");
  }
  throw forbidden(
    `Your account or token may not ${SCOPE_WORDS[scope]}. Whoever runs this server can give it the scope "${scope}".`,
  );
}

function limit(context: HttpContext, key: string): void {
  const retry_after_s = context.rate_limit?.take(key) ?? 0;
  if (retry_after_s === 0) return;
  context.metrics.rateLimited();
  throw rateLimited("Too many requests. Wait a moment.", retry_after_s);
}

/** What the headers say about who asks. Nothing in a URL ever counts. */
export function credentialsOf(request: FastifyRequest): Credentials {
  return {
    authorization: request.headers.authorization,
    cookie: cookieValue(request.headers.cookie, COOKIE_NAME),
    actor: headerText(request.headers[ACTOR_HEADER]),
    actor_role: headerText(request.headers[ACTOR_ROLE_HEADER]),
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

function cookieValue(header: string | undefined, name: string): string | undefined {
  return header
    ?.split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}
