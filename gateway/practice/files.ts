import { createHash } from "node:crypto";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { Attachment, World } from "./model.ts";
import { newSnowflake } from "./world.ts";

/** How long a link to a file works, as Discord's `ex` parameter says: one day. */
export const FILE_LINK_LIFETIME_MS = 24 * 60 * 60_000;

/** Bytes of one file without a boosted guild. */
export const FILE_BYTES_MAX = 10 * 1024 * 1024;

/** Bytes of a whole request. */
export const REQUEST_BYTES_MAX = 25 * 1024 * 1024;

/** Files on one message. */
export const FILES_MAX = 10;

/** A file as it came in. */
export interface Upload {
  /** The form field, such as `files[0]`. */
  name: string;
  filename: string;
  content_type: string;
  bytes: Uint8Array;
}

/** Keeps an upload under a new id. Discord cleans names to letters, digits, dot, dash and underscore. */
export function keepFile(
  world: World,
  upload: Upload,
  about: { title?: string | null; description?: string | null } = {},
): Attachment {
  const size = imageSize(upload.bytes);
  const attachment: Attachment = {
    id: newSnowflake(world),
    filename: upload.filename.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 260) || "unknown",
    title: about.title ?? null,
    description: about.description ?? null,
    content_type: upload.content_type,
    bytes: upload.bytes,
    width: size?.width ?? null,
    height: size?.height ?? null,
  };
  world.attachments.set(attachment.id, attachment);
  return attachment;
}

/** A signed link that ends after a day. */
export function attachmentUrl(world: World, channelId: string, attachment: Attachment): string {
  const issued = Math.floor(world.now() / 1000).toString(16);
  const expires = Math.floor((world.now() + FILE_LINK_LIFETIME_MS) / 1000).toString(16);
  const path = `/attachments/${channelId}/${attachment.id}/${encodeURIComponent(attachment.filename)}`;
  return `${world.cdn_url}${path}?ex=${expires}&is=${issued}&hm=${sign(attachment.id, expires, issued)}&`;
}

/** Whether a link was made by `attachmentUrl` and has not run out. */
export function linkIsValid(world: World, attachmentId: string, query: Record<string, string | undefined>): boolean {
  const { ex, is, hm } = query;
  if (ex === undefined || is === undefined || hm !== sign(attachmentId, ex, is)) return false;
  return Number.parseInt(ex, 16) * 1000 > world.now();
}

// Not a secret: it makes a changed link fail, as on the real service; the server listens on loopback only.
function sign(attachmentId: string, expires: string, issued: string): string {
  return createHash("sha256").update(`${attachmentId}:${expires}:${issued}`).digest("hex");
}

/** An attachment as messages and commands carry it. */
export function attachmentPayload(world: World, channelId: string, attachment: Attachment): JsonObject {
  const url = attachmentUrl(world, channelId, attachment);
  return {
    id: attachment.id,
    filename: attachment.filename,
    size: attachment.bytes.length,
    url,
    proxy_url: url,
    content_type: attachment.content_type,
    ...(attachment.title === null ? {} : { title: attachment.title }),
    ...(attachment.description === null ? {} : { description: attachment.description }),
    ...(attachment.width === null ? {} : { width: attachment.width, height: attachment.height }),
  };
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ["txt", "text/plain; charset=utf-8"],
  ["md", "text/markdown; charset=utf-8"],
  ["json", "application/json; charset=utf-8"],
  ["csv", "text/csv; charset=utf-8"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["pdf", "application/pdf"],
]);

/** The type that Discord would guess from the name. */
export function typeByName(filename: string): string {
  return TYPES.get(filename.split(".").at(-1)?.toLowerCase() ?? "") ?? "application/octet-stream";
}

/** Width and height of a PNG or GIF; null for anything else. */
function imageSize(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length >= 24 && view.getUint32(0) === 0x89504e47) {
    return { width: view.getUint32(16), height: view.getUint32(20) };
  }
  if (bytes.length >= 10 && view.getUint32(0) === 0x47494638) {
    return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  return null;
}
