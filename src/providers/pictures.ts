import type { ModelRequest, ModelSettings } from "../contracts/provider.ts";
import type { ImagePart, Message } from "../protocol/message.ts";

/**
 * Pictures in base64 by the part that names them: a conversation sends its pictures with every request, and must not
 * read and encode them each time. An entry lives as long as its message.
 */
const encoded = new WeakMap<ImagePart, string | null>();

/** Makes {@link pictureFor} answer for every picture of a request. Nothing is loaded for a model that does not see. */
export async function loadPictures(request: ModelRequest): Promise<void> {
  if (!request.settings.capabilities.supports_vision) return;
  const missing = request.messages.flatMap(imagesOf).filter((part) => !encoded.has(part));
  await Promise.all(
    missing.map(async (part) => {
      const bytes = await request.loadAttachment(part.attachment_id);
      encoded.set(part, bytes === null ? null : Buffer.from(bytes).toString("base64"));
    }),
  );
}

export type PictureForModel = { ok: true; base64: string } | { ok: false; why: string };

/** A picture's bytes for a model, or why the model does not get them. */
export function pictureFor(part: ImagePart, settings: ModelSettings): PictureForModel {
  if (!settings.capabilities.supports_vision) return { ok: false, why: "this model cannot see pictures" };
  if (!VIEWABLE.has(part.media_type)) return { ok: false, why: "a format that models do not take" };
  const base64 = encoded.get(part) ?? null;
  return base64 === null ? { ok: false, why: "no longer kept" } : { ok: true, base64 };
}

/** What both vendors take; a single other picture would make the whole conversation a bad request. */
const VIEWABLE = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const NO_IMAGES: ImagePart[] = [];

/** The pictures of a message. */
export function imagesOf(message: Message): ImagePart[] {
  if (message.role === "assistant") return NO_IMAGES;
  // Most messages have none: the test saves ten thousand small arrays in a long conversation.
  if (!message.content.some((part) => part.type === "image")) return NO_IMAGES;
  return message.content.filter((part) => part.type === "image");
}
