import type { IncomingMessage } from "../contracts/engine.ts";
import type { Principal } from "../contracts/principal.ts";
import type { AttachmentReference } from "../protocol/event.ts";
import type { SendBody } from "../protocol/workstream.ts";
import { type HttpContext, personOf } from "./context.ts";
import { invalid } from "./failures.ts";

/** A message as the engine takes it: its sender verified, its attachments found. Throws a 400 for an empty one. */
export async function incomingMessage(
  context: Pick<HttpContext, "store">,
  principal: Principal,
  ws_id: string,
  body: SendBody,
): Promise<IncomingMessage> {
  const person = personOf(principal);
  const attachments = await findAttachments(context, ws_id, body.attachment_ids ?? []);
  if (body.message.trim() === "" && attachments.length === 0) throw invalid("Empty message", { field: "message" });
  return {
    content: body.message,
    client_send_id: body.client_send_id ?? null,
    attachments,
    sender: { ...person, ...principal.actor },
    source: principal.actor?.channel_type ?? "api",
  };
}

async function findAttachments(
  { store }: Pick<HttpContext, "store">,
  ws_id: string,
  ids: readonly string[],
): Promise<AttachmentReference[]> {
  const references: AttachmentReference[] = [];
  for (const attachment_id of new Set(ids)) {
    const row = await store.attachments.get(attachment_id);
    if (row === null || row.ws_id !== ws_id) {
      throw invalid(`There is no attachment ${JSON.stringify(attachment_id)} here.`, { field: "attachment_ids" });
    }
    const { ws_id: _where, user_id: _who, created: _when, ...reference } = row;
    references.push(reference);
  }
  return references;
}
