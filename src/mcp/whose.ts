import type { PrepareContext, ToolContext } from "../contracts/tool.ts";
import type { Connection } from "./connection.ts";
import { notSignedIn, unavailable } from "./failed_request.ts";
import type { Server } from "./server.ts";

/** Why a call cannot be made at all; null when it can, or when its owner can still sign in. */
export function cannotCall(server: Server, { user_id }: PrepareContext): string | null {
  if (server.personal) return user_id === null ? notSignedIn(server.name) : null;
  return server.state === "ready" ? null : unavailable(server);
}

/** What people should know before they say yes. */
export function accountNotes({ personal }: Server): { notes?: string[] } {
  return personal ? { notes: ["runs with the account of this conversation's owner at that server"] } : {};
}

/** The connection for a call; an owner who is not signed in is asked to, and waited for. Null where that fails. */
export async function connectionOf(server: Server, context: ToolContext): Promise<Connection | null> {
  const { user_id, signal } = context;
  if (user_id === null) return server.connectionFor(null);
  await server.connectKept(user_id);
  const own = server.connectionFor(user_id);
  if (own !== null) return own;
  const { action } = await context.askPeople(server.name, { kind: "sign_in" }, signal);
  signal.throwIfAborted();
  return action === "accept" ? server.connectionFor(user_id) : null;
}
