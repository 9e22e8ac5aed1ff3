import type { FastifyReply, FastifyRequest } from "fastify";
import {
  BeginSignInAnswer,
  BeginSignInBody,
  SignInCallbackQuery,
  type SignInCallback,
} from "../../protocol/mcp_sign_in.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import { PATHS } from "../../protocol/paths.ts";
import { audit, type HttpContext, personOf } from "../context.ts";
import { conflict, notFound } from "../failures.ts";
import { openRoute, type Route, route } from "../route.ts";
import { signInPage } from "../sign_in_page.ts";

/** A page that asks for one press and runs nothing. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const OVER = "This sign-in has run out or was finished before; begin it again in the conversation.";

/** How people sign in to MCP servers that know them by accounts of their own. */
export function mcpSignInRoutes(context: HttpContext): Route[] {
  return [...personalRoutes(context), ...browserRoutes(context)];
}

function personalRoutes(context: HttpContext): Route[] {
  const { signIns } = context;
  return [
    route({
      method: "POST",
      path: PATHS.mcp_sign_ins,
      summary: "Begins a person's sign-in to an MCP server",
      scope: "write",
      body: BeginSignInBody,
      answer: BeginSignInAnswer,
      async handle({ principal, body }) {
        const begun = await signIns.begin(body.server, personOf(principal).user_id);
        if (!begun.ok) throw conflict(begun.error);
        const { url, expires } = begun;
        return { url, expires };
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.mcp_sign_in,
      summary: "Forgets a person's sign-in to an MCP server",
      scope: "write",
      answer: OkAnswer,
      async handle({ principal, params }) {
        const { user_id } = personOf(principal);
        const server = params["server"] ?? "";
        const known = await signIns.signOut(server, user_id);
        if (!known) throw notFound("You are not signed in to an MCP server of this name.");
        await audit(context, user_id, "mcp.signed_out", server);
        return { status: "ok" };
      },
    }),
  ];
}

/** Where browsers come back. A state is as good as a password for its ten minutes, so guessing it is slowed down. */
function browserRoutes(context: HttpContext): Route[] {
  const { signIns } = context;
  return [
    openRoute({
      method: "GET",
      path: PATHS.mcp_client_metadata,
      summary: "What authorisation servers of MCP servers may know of this installation",
      scope: "public",
      answer: null,
      media_type: "application/json",
      handle() {
        const metadata = signIns.clientMetadata();
        if (metadata === null) throw notFound("There is nothing at this address.");
        return metadata;
      },
    }),
    openRoute({
      method: "GET",
      path: PATHS.mcp_sign_in_callback,
      summary: "Where a browser comes back from signing in to an MCP server; asks whether to connect",
      scope: "public",
      query: SignInCallbackQuery,
      answer: null,
      media_type: "text/html",
      handle: ({ request, reply, query }) => ask(context, request, reply, query),
    }),
    openRoute({
      method: "POST",
      path: PATHS.mcp_sign_in_callback,
      summary: "Connects, after a press on that page",
      scope: "public",
      form: true,
      answer: null,
      media_type: "text/html",
      handle: ({ request, reply }) => finish(context, request, reply, formOf(request)),
    }),
  ];
}

async function ask(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { state = "", code, iss, error }: SignInCallback,
): Promise<string> {
  const begun = await guarded(context, request, () => context.signIns.begun(state));
  if (begun === null) return page(reply, 400, { title: "Nothing to connect", text: OVER });
  if (code === undefined) {
    const refused = error === "access_denied" ? "You did not allow it" : "Signing in failed there";
    return page(reply, 400, {
      title: "Not connected",
      text: `${refused}; nothing was connected. Begin it again if you want to.`,
    });
  }
  const user = await context.store.users.get(begun.user_id);
  if (user === null) return page(reply, 400, { title: "Nothing to connect", text: OVER });
  return page(reply, 200, {
    title: `Connect ${begun.server}?`,
    text: `The turnstone account “${user.username}” will use what you just allowed. If that is not your account, close this page.`,
    form: {
      action: PATHS.mcp_sign_in_callback,
      label: "Connect",
      values: { state, code, ...(iss === undefined ? {} : { iss }) },
    },
  });
}

async function finish(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { state = "", code = "", iss }: SignInCallback,
): Promise<string> {
  const begun = await guarded(context, request, () => context.signIns.begun(state));
  if (begun === null) return page(reply, 400, { title: "Not connected", text: OVER });
  const finished = await context.signIns.finish({ state, code, issuer: iss ?? null });
  if (!finished.ok) return page(reply, 400, { title: "Not connected", text: finished.error });
  const { server, user_id } = finished;
  await audit(context, user_id, "mcp.signed_in", server);
  const user = await context.store.users.get(user_id);
  await context.engine.signedIn(server, { user_id, name: user?.display_name ?? "" });
  return page(reply, 200, { title: "Connected", text: `${server} is connected. You can close this page.` });
}

/** What comes to nothing counts as a guess. */
async function guarded<Value>(
  { login_limiter }: HttpContext,
  request: FastifyRequest,
  work: () => Promise<Value | null>,
): Promise<Value | null> {
  const admission = login_limiter.begin([`sign_in:${request.ip}`]);
  if (!admission.ok) return null;
  const value = await work();
  if (value !== null) admission.attempt.succeed();
  return value;
}

function formOf({ body }: FastifyRequest): SignInCallback {
  const fields = new URLSearchParams(Buffer.isBuffer(body) ? body.toString("utf8") : "");
  const of = (name: string): string | undefined => fields.get(name) ?? undefined;
  const [state, code, iss] = [of("state"), of("code"), of("iss")];
  return {
    ...(state === undefined ? {} : { state }),
    ...(code === undefined ? {} : { code }),
    ...(iss === undefined ? {} : { iss }),
  };
}

function page(reply: FastifyReply, status: number, content: Parameters<typeof signInPage>[0]): string {
  reply.code(status).headers({ "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY });
  return signInPage(content);
}
