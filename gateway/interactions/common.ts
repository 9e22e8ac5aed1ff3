import type { Press } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { unlinkedView } from "../inbound/introduce.ts";
import { decodeCustomId, type CustomId } from "../render/custom_id.ts";
import { textView } from "../render/view.ts";
import type { ServerAnswer, ServerRefusal } from "../server_request.ts";

/** How the server speaks of conversations that are not there, or not for this person. */
const UNKNOWN_WORKSTREAM = "Unknown workstream";

/** What a press of one of these verbs is about; null for other presses. */
export function pressedId(press: Press, kind: Press["kind"], verbs: readonly string[]): CustomId | null {
  if (press.kind !== kind) return null;
  const id = decodeCustomId(press.id);
  return id !== null && verbs.includes(id.verb) ? id : null;
}

/** The workstream that a pressed message shows, else that of the place; null where there is none. */
export async function workstreamOfPress(
  { server, routes }: Gateway,
  press: Press,
): Promise<ServerAnswer<string | null>> {
  if (press.message_id !== null && press.kind !== "message_command") {
    const posted = await server.posted(press.message_id);
    if (posted.ok) return { ok: true, value: posted.value.ws_id };
    if (posted.status !== 404) return posted;
  }
  const route = await routes.find(press.place.channel_id);
  return route.ok ? { ok: true, value: route.value?.ws_id ?? null } : route;
}

/** Whether somebody administrates: the account must be able to approve, and where roles decide, the role be admin. */
export async function isAdmin({ server }: Gateway, { id, role }: Press["person"]): Promise<boolean> {
  const link = await server.linkOf(id);
  return link.ok && link.value.scopes.split(",").includes("approve") && (role === null || role === "admin");
}

/** Says something to this person alone. */
export function tell(press: Press, text: string): Promise<void> {
  return press.answer(textView(text), { private: true });
}

/** Says why the server refused. A person without an account learns how to get one. */
export async function tellRefusal(gateway: Gateway, press: Press, refusal: ServerRefusal): Promise<void> {
  if (refusal.status === 401 || refusal.status === 403 || refusal.status === 404) {
    const link = await gateway.server.linkOf(press.person.id);
    if (!link.ok && link.status === 404) return press.answer(unlinkedView(), { private: true });
    if (refusal.status === 404 && refusal.error === UNKNOWN_WORKSTREAM) {
      return tell(press, "This conversation belongs to somebody else, or has ended. Its owner may do this.");
    }
  }
  return tell(press, refusal.error);
}

/** Acknowledges, finds the workstream, does something there; tells the person where any of it fails. */
export async function inWorkstream<Value>(
  gateway: Gateway,
  press: Press,
  work: (ws_id: string) => Promise<ServerAnswer<Value>>,
): Promise<Value | null> {
  const ws_id = await workstreamOfPress(gateway, press);
  if (!ws_id.ok) {
    await tellRefusal(gateway, press, ws_id);
    return null;
  }
  if (ws_id.value === null) {
    await tell(press, "There is no conversation with me here. Use this in one of my threads, or in a direct message.");
    return null;
  }
  const answer = await work(ws_id.value);
  if (answer.ok) return answer.value;
  await tellRefusal(gateway, press, answer);
  return null;
}
