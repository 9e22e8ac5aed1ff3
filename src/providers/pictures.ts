import type { ModelRequest } from "../contracts/provider.ts";
import type { ImagePart, Message } from "../protocol/message.ts";

/**
 * Pictures in base64 by the part that names them: a conversation sends its pictures with every request, and must not
 * read and encode them each time. An entry lives as long as its message.
 */
const encoded = new WeakMap<ImagePart, string | null>();

/** Makes {@link pictureBase64} answer for every picture of a request. Nothing is loaded for a model that does not see. */
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

/** A loaded picture; null when its bytes are gone or were never loaded. */
export function pictureBase64(part: ImagePart): string | null {
  return encoded.get(part) ?? null;
}

const NO_IMAGES: ImagePart[] = [];

/** The pictures of a message. */
export function imagesOf(message: Message): ImagePart[] {
  if (message.role === "assistant") return NO_IMAGES;
  // Most messages have none: the test saves ten thousand small arrays in a long conversation.
  if (!message.content.some((part) => part.type === "image")) return NO_IMAGES;
  return message.content.filter((part) => part.type === "image");
}
