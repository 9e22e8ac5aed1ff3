import { cut } from "../lib/cut.ts";
import { imageFacts, sendableImage } from "../lib/image.ts";
import type { ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { AttachmentReference } from "../protocol/event.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { plainText } from "./describe.ts";

/** Anthropic takes 5 MB of base64 a picture; base64 adds a third. */
const IMAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Pictures of one result; more would fill a context by themselves. */
const IMAGES_MAX = 8;

/** Blocks that are looked at; more is a runaway server. */
const BLOCKS_MAX = 1000;

const CUT_HINT = "Ask the tool for less at a time.";

/** What a result says to the model, with its pictures put by. */
export interface ReadContent {
  text: string;
  images: AttachmentReference[];
}

/** A tool's result as the server sent it, for the model. */
export async function toolOutput(result: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { text, images } = await readContent(result["content"], result["structuredContent"], context);
  const is_error = result["isError"] === true;
  const said = text === "" ? "(no output)" : text;
  return { output: is_error ? `Error: ${said}` : said, is_error, effect: "done", images };
}

/**
 * Content blocks as text, each on lines of its own. Pictures are kept for models that see; what is neither text nor a
 * picture is told by type and size, never as base64. Structured content counts where there is no text.
 */
export async function readContent(
  content: JsonValue | undefined,
  structured: JsonValue | undefined,
  context: ToolContext,
): Promise<ReadContent> {
  const pieces: string[] = [];
  const images: AttachmentReference[] = [];
  let has_text = false;
  let length = 0;
  const blocks = Array.isArray(content) ? content : [];
  for (const block of blocks.slice(0, BLOCKS_MAX)) {
    if (!isJsonObject(block)) continue;
    has_text ||= isTextBlock(block);
    const piece = await readBlock(block, images, context);
    if (length <= context.output_limit) pieces.push(piece);
    length += piece.length;
  }
  if (blocks.length > BLOCKS_MAX) pieces.push(`(${blocks.length - BLOCKS_MAX} more parts left out)`);
  if (!has_text && structured !== undefined && structured !== null) pieces.push(JSON.stringify(structured, null, 2));
  return { text: cut(pieces.join("\n"), context.output_limit, CUT_HINT), images };
}

function isTextBlock({ type, text }: JsonObject): boolean {
  return type === "text" && typeof text === "string" && text !== "";
}

async function readBlock(block: JsonObject, images: AttachmentReference[], context: ToolContext): Promise<string> {
  switch (block["type"]) {
    case "text":
      return readable(block["text"], context);
    case "image":
      return readPicture(block["data"], block["mimeType"], images, context);
    case "audio":
      return `[audio: ${mediaType(block["mimeType"])}, ${sizeOf(block["data"])}]`;
    case "resource":
      return isJsonObject(block["resource"]) ? readResource(block["resource"], images, context) : "[empty resource]";
    case "resource_link":
      return linkText(block);
    default:
      return `[content of an unknown kind: ${kindOf(block)}]`;
  }
}

function kindOf({ type }: JsonObject): string {
  return typeof type === "string" ? plainText(type).slice(0, 40) : "none";
}

/** One resource's contents: text as it is under its address, a picture as a picture, anything else by type and size. */
export async function readResource(
  { uri, text, blob, mimeType }: JsonObject,
  images: AttachmentReference[],
  context: ToolContext,
): Promise<string> {
  const address = typeof uri === "string" ? plainText(uri).slice(0, 500) : "without an address";
  if (typeof text === "string") return `[resource ${address}]\n${readable(text, context)}`;
  if (typeof mimeType === "string" && mimeType.startsWith("image/")) {
    return `[resource ${address}]\n${await readPicture(blob, mimeType, images, context)}`;
  }
  return `[resource ${address}: ${mediaType(mimeType)}, ${sizeOf(blob)}]`;
}

function linkText({ uri, name, description, mimeType, size }: JsonObject): string {
  const facts = [
    typeof mimeType === "string" ? mediaType(mimeType) : "",
    typeof size === "number" ? `${size.toLocaleString("en-US")} bytes` : "",
    typeof description === "string" ? plainText(description).slice(0, 500) : "",
  ].filter((fact) => fact !== "");
  const label = typeof name === "string" ? plainText(name).slice(0, 200) : "";
  return `[link to a resource: ${label} ${plainText(typeof uri === "string" ? uri : "").slice(0, 500)}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}]`;
}

/** Cut before anything else is done to it: a server may send as much as it likes. */
function readable(text: JsonValue | undefined, context: ToolContext): string {
  return typeof text === "string" ? plainText(cut(text, context.output_limit, CUT_HINT)) : "";
}

async function readPicture(
  data: JsonValue | undefined,
  type: JsonValue | undefined,
  images: AttachmentReference[],
  context: ToolContext,
): Promise<string> {
  const about = `image: ${mediaType(type)}, ${sizeOf(data)}`;
  const described = (why: string): string => `[${about}; ${why}]`;
  if (typeof data !== "string") return described("it is empty");
  if (!context.model.supports_vision) return described("this model cannot see it");
  if (images.length >= IMAGES_MAX) return described("too many pictures in one result");
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > IMAGE_BYTES_MAX) return described("too large to be shown");
  const facts = imageFacts(bytes);
  if (facts === null) return described("its bytes are no picture");
  const image = await sendableImage(bytes, facts);
  if (image.status === "unsupported") return described(image.reason);
  const { media_type, width, height } = image;
  const filename = `image_${images.length + 1}.${media_type.slice(media_type.indexOf("/") + 1)}`;
  images.push(await context.saveAttachment(image.bytes, { filename, media_type, width, height }));
  return `[${about}]`;
}

function mediaType(type: JsonValue | undefined): string {
  return typeof type === "string" ? plainText(type).slice(0, 100) : "unknown type";
}

/** Bytes behind base64. */
function sizeOf(data: JsonValue | undefined): string {
  if (typeof data !== "string") return "no data";
  const bytes = Math.floor((data.replace(/=+$/, "").length * 3) / 4);
  return `${bytes.toLocaleString("en-US")} bytes`;
}
