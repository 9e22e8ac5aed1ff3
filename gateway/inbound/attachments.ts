import type { InboundAttachment } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { sizeText } from "../render/figures.ts";
import type { Actor } from "../server_request.ts";

/** As the server takes them. */
const ATTACHMENT_BYTES_MAX = 25 * 1024 * 1024;
/** Discord's own limit of files in a message, with some air for forwards. */
const ATTACHMENTS_MAX = 20;

/** What came of a message's files. */
export interface UploadedAttachments {
  attachment_ids: string[];
  /** About files that could not be taken, in words for the agent and the person. */
  problems: string[];
}

/** Fetches the files on arrival, since their addresses expire, and gives them to the server. */
export async function uploadAttachments(
  gateway: Gateway,
  actor: Actor,
  ws_id: string,
  attachments: readonly InboundAttachment[],
): Promise<UploadedAttachments> {
  const uploaded: UploadedAttachments = { attachment_ids: [], problems: [] };
  for (const attachment of attachments.slice(0, ATTACHMENTS_MAX)) {
    const problem = await uploadOne(gateway, actor, ws_id, attachment, uploaded);
    if (problem !== null) uploaded.problems.push(`[Attachment ${attachment.filename} is missing: ${problem}]`);
  }
  const left = attachments.length - ATTACHMENTS_MAX;
  if (left > 0) uploaded.problems.push(`[${left} more attachments are missing: at most ${ATTACHMENTS_MAX} are taken]`);
  return uploaded;
}

async function uploadOne(
  gateway: Gateway,
  actor: Actor,
  ws_id: string,
  attachment: InboundAttachment,
  uploaded: UploadedAttachments,
): Promise<string | null> {
  const file = await gateway.adapter.download(attachment, ATTACHMENT_BYTES_MAX, gateway.signal);
  if (!file.ok) {
    gateway.log.warn("attachment.not_fetched", { reason: file.reason, detail: file.detail });
    if (file.reason !== "too_large") return "it could not be fetched";
    return `it has ${sizeText(attachment.size)}, and the limit is ${sizeText(ATTACHMENT_BYTES_MAX)}`;
  }
  const answer = await gateway.server.upload(actor, ws_id, file.value, attachment.media_type);
  if (!answer.ok) return answer.error;
  uploaded.attachment_ids.push(answer.value.attachment_id);
  return null;
}
