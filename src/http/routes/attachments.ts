import type { AttachmentRow } from "../../contracts/store.ts";
import { timestamp } from "../../lib/clock.ts";
import { newPrefixedId } from "../../lib/ids.ts";
import { AttachmentAnswer, AttachmentsAnswer, OkAnswer } from "../../protocol/answers.ts";
import { AppError } from "../../protocol/error.ts";
import { PATHS } from "../../protocol/paths.ts";
import { accessWorkstream } from "../access.ts";
import type { HttpContext } from "../context.ts";
import { invalid, notFound } from "../failures.ts";
import { sniffMediaType } from "../media_type.ts";
import { type PersonalCall, type Route, route } from "../route.ts";

/** Bytes of one attachment. */
export const ATTACHMENT_BYTES_MAX = 25 * 1024 * 1024;

/** Characters of a file name that are kept. */
const FILENAME_LENGTH_MAX = 200;

/** Types that a browser may show in place; all others are offered as a download. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function attachmentRoutes(context: HttpContext): Route[] {
  return [...collectionRoutes(context), ...memberRoutes(context)];
}

function collectionRoutes({ store, clock }: HttpContext): Route[] {
  return [
    route({
      method: "POST",
      path: PATHS.attachments,
      summary: "Uploads a file as the form field file; a message names it by its id",
      scope: "write",
      multipart: true,
      answer: AttachmentAnswer,
      async handle({ principal, params, request }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "speak");
        const file = await uploadedFile(request.body, request.headers["content-type"]);
        const bytes = new Uint8Array(await file.arrayBuffer());
        const about = {
          attachment_id: newPrefixedId("att"),
          filename: cleanFilename(file.name),
          media_type: sniffMediaType(bytes),
          size: bytes.length,
        };
        const row = { ...about, ws_id, user_id: principal.user_id, created: timestamp(clock) };
        await store.attachments.save(row, bytes);
        return about;
      },
    }),
    route({
      method: "GET",
      path: PATHS.attachments,
      summary: "The attachments of a workstream",
      scope: "read",
      answer: AttachmentsAnswer,
      async handle({ principal, params }) {
        const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], "see");
        const rows = await store.attachments.list(ws_id);
        const attachments = rows.map(({ attachment_id, filename, media_type, size }) => {
          return { attachment_id, filename, media_type, size };
        });
        return { attachments };
      },
    }),
  ];
}

function memberRoutes({ store }: HttpContext): Route[] {
  const attachmentOf = async ({ principal, params }: PersonalCall, action: "see" | "speak"): Promise<AttachmentRow> => {
    const { ws_id } = await accessWorkstream(store, principal, params["ws_id"], action);
    const row = await store.attachments.get(params["attachment_id"] ?? "");
    if (row === null || row.ws_id !== ws_id) throw notFound("There is no such attachment.");
    return row;
  };

  return [
    route({
      method: "GET",
      path: PATHS.attachment,
      summary: "The bytes of an attachment",
      scope: "read",
      answer: null,
      media_type: "application/octet-stream",
      async handle(call) {
        const row = await attachmentOf(call, "see");
        const bytes = await store.attachments.bytes(row.attachment_id);
        if (bytes === null) throw notFound("The bytes of this attachment are gone.");
        const shown = SHOWN_TYPES.has(row.media_type);
        call.reply.header("content-type", shown ? row.media_type : "application/octet-stream");
        const how = shown ? "inline" : "attachment";
        call.reply.header("content-disposition", `${how}; filename*=UTF-8''${encodeURIComponent(row.filename)}`);
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      },
    }),
    route({
      method: "DELETE",
      path: PATHS.attachment,
      summary: "Deletes an attachment",
      scope: "write",
      answer: OkAnswer,
      async handle(call) {
        const row = await attachmentOf(call, "speak");
        if (row.user_id !== call.principal.user_id) await accessWorkstream(store, call.principal, row.ws_id, "steer");
        await store.attachments.remove(row.attachment_id);
        return { status: "ok" };
      },
    }),
  ];
}

/** The one file of a form. The platform's own parser reads it, so no form library is loaded for the rare upload. */
async function uploadedFile(body: unknown, content_type: string | undefined): Promise<File> {
  if (!Buffer.isBuffer(body)) {
    throw invalid("Send the file as multipart/form-data with the field file.", { field: "file" });
  }
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { "content-type": content_type ?? "" } }).formData();
  } catch (cause) {
    throw new AppError(400, "invalid_request", "The form cannot be read.", { cause });
  }
  const file = form.get("file");
  if (!(file instanceof File)) throw invalid('The form has no file in the field "file".', { field: "file" });
  if (file.size > ATTACHMENT_BYTES_MAX) throw new AppError(413, "too_large", "A file may have at most 25 MiB.");
  return file;
}

/** A name without folders and control characters, for people; nothing is saved under it here. */
function cleanFilename(name: string): string {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  const clean = base
    .replace(/\p{Cc}/gu, "")
    .slice(0, FILENAME_LENGTH_MAX)
    .toWellFormed()
    .trim();
  return clean === "" || clean === "." || clean === ".." ? "file" : clean;
}
