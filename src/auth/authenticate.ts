import type { Principal } from "../contracts/principal.ts";
import type { Store, UserRow } from "../contracts/store.ts";
import { type Clock, timestamp } from "../lib/clock.ts";
import { sha256 } from "../lib/ids.ts";
import { ACTOR_ROLES, AUDIENCE_SERVER, type ActorRole, type Scope } from "../protocol/auth.ts";
import { isApiToken, isTokenAlive } from "./api_token.ts";
import { CLOCK_LEEWAY_S, type Claims, verifyJwt } from "./jwt.ts";
import { intersectScopes, parseScopes } from "./scopes.ts";

/** What a request brings along, as its headers say it. */
export interface Credentials {
  authorization: string | undefined;
  /** The value of our cookie. */
  cookie: string | undefined;
  /** `discord:<user id>`. */
  actor: string | undefined;
  actor_role: string | undefined;
}

export type Authentication =
  | { ok: true; principal: Principal; source: "bearer" | "cookie" }
  /** `missing`: nothing was brought. `invalid`: a credential that does not count. */
  | { ok: false; reason: "missing" | "invalid" }
  /** `actor_not_allowed`: only a gateway speaks for others. `unlinked`: that user of the platform has no account. */
  | { ok: false; reason: "actor_not_allowed" | "actor_malformed" | "unlinked" };

/** Finds out who is asking. */
export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Authentication>;
  /** Ends the session that these credentials hold, for good. API tokens stay: they are revoked by who administrates. */
  endSession(credentials: Credentials): Promise<void>;
}

/** Verified tokens that are remembered. Verifying one costs as much as a whole request. */
const VERIFIED_MAX = 10_000;

const ACTOR = /^([a-z][a-z0-9_-]{0,31}):([\w.-]{1,64})$/;

/**
 * An authenticator over the store's people and tokens. A verified signature is remembered by the token's hash. Whether
 * its person and its token still count is asked at each request, so that a revocation by any process counts at once.
 */
export function createAuthenticator(dependencies: {
  store: Pick<Store, "users" | "channels">;
  clock: Clock;
  jwt_secret: Uint8Array;
}): Authenticator {
  const { store, clock } = dependencies;
  const verified = new Map<string, Claims>();

  const claimsOf = async (token: string, hash: string): Promise<Claims | null> => {
    const known = verified.get(hash);
    if (known !== undefined) {
      if (known.exp + CLOCK_LEEWAY_S > clock.now() / 1000) return known;
      verified.delete(hash);
      return null;
    }
    const claims = await verifyJwt(dependencies.jwt_secret, clock, token, AUDIENCE_SERVER);
    if (claims === null) return null;
    const oldest = verified.size >= VERIFIED_MAX ? verified.keys().next().value : undefined;
    if (oldest !== undefined) verified.delete(oldest);
    verified.set(hash, claims);
    return claims;
  };

  const holderOf = async (credential: string): Promise<Principal | null> => {
    const hash = sha256(credential);
    if (isApiToken(credential)) {
      const row = await store.users.tokenByHash(hash);
      if (row === null || !isTokenAlive(row, clock.now())) return null;
      return personal(await store.users.get(row.user_id), parseScopes(row.scopes), `token:${row.token_id}`);
    }
    const claims = await claimsOf(credential, hash);
    if (claims === null || (await store.users.isSessionEnded(hash))) return null;
    const scopes = parseScopes(claims.scopes);
    if (scopes.has("service")) return service(claims.sub);
    if (claims.token_id !== undefined) {
      const row = (await store.users.listTokens(claims.sub)).find((token) => token.token_id === claims.token_id);
      if (row === undefined || !isTokenAlive(row, clock.now())) return null;
    }
    return personal(await store.users.get(claims.sub), scopes, `user:${claims.sub}`);
  };

  return {
    async endSession({ authorization, cookie }) {
      for (const credential of [bearerOf(authorization), cookie]) {
        if (credential === undefined) continue;
        const token_hash = sha256(credential);
        const claims = await claimsOf(credential, token_hash);
        if (claims === null) continue;
        const expires = new Date((claims.exp + CLOCK_LEEWAY_S) * 1000).toISOString();
        await store.users.endSession({ token_hash, expires, at: timestamp(clock) });
      }
    },
    async authenticate(credentials) {
      const bearer = bearerOf(credentials.authorization);
      const credential = bearer ?? credentials.cookie;
      if (credential === undefined || credential === "") {
        return { ok: false, reason: bearer === "" ? "invalid" : "missing" };
      }
      const principal = await holderOf(credential);
      if (principal === null) return { ok: false, reason: "invalid" };
      const source = bearer === undefined ? "cookie" : "bearer";
      if (credentials.actor === undefined) return { ok: true, principal, source };
      return actFor(store, principal, credentials.actor, roleOf(credentials.actor_role), source);
    },
  };
}

/** The credential of an `Authorization` header. An unknown scheme gives an empty one: the cookie must not step in. */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? "";
}

/** Undefined: not said. An unknown word counts as the least. */
function roleOf(header: string | undefined): ActorRole | null {
  if (header === undefined) return null;
  return ACTOR_ROLES.find((role) => role === header) ?? "talk";
}

async function actFor(
  store: Pick<Store, "users" | "channels">,
  principal: Principal,
  actor: string,
  role: ActorRole | null,
  source: "bearer" | "cookie",
): Promise<Authentication> {
  if (!principal.is_service) return { ok: false, reason: "actor_not_allowed" };
  const [, channel_type, channel_user_id] = ACTOR.exec(actor) ?? [];
  if (channel_type === undefined || channel_user_id === undefined) return { ok: false, reason: "actor_malformed" };
  const link = await store.channels.linkOf(channel_type, channel_user_id);
  const user = link === null ? null : await store.users.get(link.user_id);
  if (link === null || user === null) return { ok: false, reason: "unlinked" };
  const linked = intersectScopes(parseScopes(link.scopes), parseScopes(user.scopes));
  const scopes = role === "talk" || role === "use" ? intersectScopes(linked, parseScopes("write")) : linked;
  return {
    ok: true,
    source,
    principal: {
      user_id: user.user_id,
      username: user.username,
      display_name: user.display_name,
      scopes,
      is_service: true,
      actor: { channel_type, channel_user_id },
      role,
      credential_id: `actor:${channel_type}:${channel_user_id}`,
    },
  };
}

function personal(
  user: UserRow | null,
  credential_scopes: ReadonlySet<Scope>,
  credential_id: string,
): Principal | null {
  if (user === null) return null;
  return {
    user_id: user.user_id,
    username: user.username,
    display_name: user.display_name,
    scopes: intersectScopes(credential_scopes, parseScopes(user.scopes)),
    is_service: false,
    actor: null,
    role: null,
    credential_id,
  };
}

function service(name: string): Principal {
  return {
    user_id: null,
    username: name,
    display_name: name,
    scopes: new Set<Scope>(["service"]),
    is_service: true,
    actor: null,
    role: null,
    credential_id: `service:${name}`,
  };
}
