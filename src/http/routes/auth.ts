import type { FastifyReply, FastifyRequest } from "fastify";
import { isApiToken, isTokenAlive } from "../../auth/api_token.ts";
import { LOGIN_LIFETIME_S, mintJwt } from "../../auth/jwt.ts";
import { PasswordQueueFullError, verifyPassword } from "../../auth/password.ts";
import { formatScopes, intersectScopes, parseScopes } from "../../auth/scopes.ts";
import { createFirstUser, isSetupCode, normalizeUsername } from "../../auth/setup.ts";
import type { UserRow } from "../../contracts/store.ts";
import { sha256 } from "../../lib/ids.ts";
import { AuthStatusAnswer, OkAnswer } from "../../protocol/answers.ts";
import { AUDIENCE_SERVER, COOKIE_NAME, LoginAnswer, LoginBody, type Scope, SetupBody } from "../../protocol/auth.ts";
import { AppError } from "../../protocol/error.ts";
import { PATHS } from "../../protocol/paths.ts";
import { audit, type HttpContext } from "../context.ts";
import { conflict, forbidden, invalid, rateLimited } from "../failures.ts";
import { credentialsOf } from "../guard.ts";
import { openRoute, type Route } from "../route.ts";
import { isLocalRequest } from "../security.ts";

/** Seconds after which somebody who met a queue of passwords may try again. */
const QUEUE_RETRY_S = 2;

/** Whoever logs in: the person, and what the credential that they used allows. */
interface Login {
  user: UserRow;
  scopes: ReadonlySet<Scope>;
  token_id: string | null;
}

export function authRoutes(context: HttpContext): Route[] {
  const { store, options } = context;
  return [
    openRoute({
      method: "POST",
      path: PATHS.login,
      summary: "Logs in with a user name and password, or with an API token",
      scope: "public",
      body: LoginBody,
      answer: LoginAnswer,
      async handle({ body, request, reply }) {
        const { username, password, token } = body;
        if (token !== undefined) return welcome(context, await loginByToken(context, request, token), request, reply);
        if (username === undefined || password === undefined) throw invalid("Send username and password, or a token.");
        return welcome(context, await loginByPassword(context, request, username, password), request, reply);
      },
    }),
    openRoute({
      method: "POST",
      path: PATHS.logout,
      summary: "Ends the session and takes its cookie away",
      scope: "public",
      answer: OkAnswer,
      async handle({ reply, request }) {
        await context.authenticator.endSession(credentialsOf(request));
        setCookie(reply, request, "", 0);
        return { status: "ok" };
      },
    }),
    openRoute({
      method: "POST",
      path: PATHS.setup,
      summary: "Creates the first user, once",
      scope: "public",
      body: SetupBody,
      answer: LoginAnswer,
      async handle({ body, request, reply }) {
        if (!isLocalRequest(request)) requireSetupCode(context, request, body.setup_code);
        const { username, display_name = null, password } = body;
        const user = await queued(createFirstUser(store, context.clock, { username, display_name, password }));
        if (user === null) throw conflict("Setup is done already. Log in instead.");
        await audit(context, user.user_id, "user.created", user.user_id, { first: true });
        return welcome(context, { user, scopes: parseScopes(user.scopes), token_id: null }, request, reply);
      },
    }),
    openRoute({
      method: "GET",
      path: PATHS.auth_status,
      summary: "Whether the first user has yet to be created",
      scope: "public",
      answer: AuthStatusAnswer,
      async handle() {
        const has_users = (await store.users.count()) > 0;
        return { auth_enabled: true, has_users, setup_required: !has_users };
      },
    }),
  ];

  function requireSetupCode({ login_limiter }: HttpContext, request: FastifyRequest, code: string | undefined): void {
    const admission = login_limiter.begin([`setup:${request.ip}`]);
    if (!admission.ok) throw rateLimited("Too many attempts.", admission.retry_after_s);
    if (!isSetupCode(code, options.setup_code)) {
      throw forbidden("The setup code is missing or wrong. The server prints it when it starts.");
    }
    admission.attempt.succeed();
  }
}

async function loginByPassword(
  context: HttpContext,
  request: FastifyRequest,
  name: string,
  password: string,
): Promise<Login> {
  const username = normalizeUsername(name);
  const keys = [`address:${request.ip}`, `name:${username ?? sha256(name)}`];
  return limited(context, request, keys, async () => {
    const user = username === null ? null : await context.store.users.byUsername(username);
    const right = await queued(verifyPassword(password, user?.password_hash ?? null));
    return user !== null && right ? { user, scopes: parseScopes(user.scopes), token_id: null } : null;
  });
}

async function loginByToken(context: HttpContext, request: FastifyRequest, token: string): Promise<Login> {
  return limited(context, request, [`address:${request.ip}`], async () => {
    const row = isApiToken(token) ? await context.store.users.tokenByHash(sha256(token)) : null;
    if (row === null || !isTokenAlive(row, context.clock.now())) return null;
    const user = await context.store.users.get(row.user_id);
    if (user === null) return null;
    const scopes = intersectScopes(parseScopes(row.scopes), parseScopes(user.scopes));
    return { user, scopes, token_id: row.token_id };
  });
}

async function limited(
  context: HttpContext,
  request: FastifyRequest,
  keys: string[],
  check: () => Promise<Login | null>,
): Promise<Login> {
  const admission = context.login_limiter.begin(keys);
  if (!admission.ok) throw rateLimited("Too many failed attempts. Wait a few minutes.", admission.retry_after_s);
  let login: Login | null;
  try {
    login = await check();
  } catch (error) {
    // A failure of ours is no guess of theirs.
    admission.attempt.succeed();
    throw error;
  }
  if (login !== null) {
    admission.attempt.succeed();
    return login;
  }
  await audit(context, null, "login.failed", request.ip, {});
  throw new AppError(401, "unauthorized", "The name, the password or the token is wrong.");
}

/** Waits for a password's turn; somebody who meets too many others is told to come back. */
async function queued<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PasswordQueueFullError) throw rateLimited("Too many people log in just now.", QUEUE_RETRY_S);
    throw error;
  }
}

async function welcome(
  context: HttpContext,
  { user, scopes, token_id }: Login,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<LoginAnswer> {
  const jwt = await mintJwt(context.options.jwt_secret, context.clock, {
    sub: user.user_id,
    scopes: formatScopes(scopes),
    audience: AUDIENCE_SERVER,
    lifetime_s: LOGIN_LIFETIME_S,
    ...(token_id === null ? {} : { token_id }),
  });
  setCookie(reply, request, jwt, LOGIN_LIFETIME_S);
  const role = scopes.has("write") ? "full" : "read";
  return { status: "ok", role, scopes: formatScopes(scopes), jwt, user_id: user.user_id };
}

function setCookie(reply: FastifyReply, request: FastifyRequest, value: string, max_age_s: number): void {
  const secure = request.protocol === "https" ? "; Secure" : "";
  reply.header("set-cookie", `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${max_age_s}${secure}`);
}
