/** Pictures that are known by their first bytes, whatever their names say. */
export const IMAGE_FORMATS = ["png", "jpeg", "gif", "webp", "bmp", "tiff", "ico"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export interface ImageFacts {
  format: ImageFormat;
  media_type: string;
  /** Pixels; null when the header does not say. */
  width: number | null;
  height: number | null;
}

/** Bytes from which a picture's kind can be told. */
const IMAGE_PROBE_BYTES = 32;

/** Formats that every model's API takes. */
const SENDABLE: ReadonlySet<ImageFormat> = new Set(["png", "jpeg", "gif", "webp"]);

/** Anthropic's vision guide: more pixels a side are refused, and a refused picture would spoil every later turn. */
const SIDE_PIXELS_MAX = 8000;

/** What a larger picture is scaled down to: models see no more than about this. */
const SCALED_SIDE_PIXELS = 2000;

/** Decoding takes four bytes a pixel, so a small file may not claim more than this. */
const DECODED_PIXELS_MAX = 64_000_000;

export type SendableImage =
  | { status: "ready"; bytes: Uint8Array; media_type: string; width: number; height: number; converted: boolean }
  /** The picture can be described, but not sent. */
  | { status: "unsupported"; reason: string };

const MEDIA_TYPES: Readonly<Record<ImageFormat, string>> = {
  png: "image/png",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
  tiff: "image/tiff",
  ico: "image/x-icon",
};

/** The kind of picture that bytes begin; null when they begin none. */
export function imageFormat(bytes: Buffer): ImageFormat | null {
  const head = bytes.subarray(0, IMAGE_PROBE_BYTES).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (head.startsWith("\xff\xd8\xff")) return "jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "webp";
  if (head.startsWith("II*\0") || head.startsWith("MM\0*")) return "tiff";
  if (isBmp(bytes)) return "bmp";
  return isIco(bytes) ? "ico" : null;
}

/** Kind and size of a whole picture by its header; null when the bytes are no picture. Never throws. */
export function imageFacts(bytes: Buffer): ImageFacts | null {
  const format = imageFormat(bytes);
  if (format === null) return null;
  const size = sizeOf(bytes, format);
  return { format, media_type: MEDIA_TYPES[format], width: size?.[0] ?? null, height: size?.[1] ?? null };
}

/**
 * Makes a picture fit for a model's API: proves that it decodes, converts other formats to PNG and scales huge ones
 * down.
 */
export async function sendableImage(bytes: Buffer, facts: ImageFacts): Promise<SendableImage> {
  const source = facts.format === "ico" ? (embeddedPng(bytes) ?? bytes) : bytes;
  const { default: sharp } = await import("sharp");
  try {
    const picture = sharp(source, { limitInputPixels: DECODED_PIXELS_MAX, failOn: "error" });
    const { width, height } = await picture.metadata();
    const fits = width <= SIDE_PIXELS_MAX && height <= SIDE_PIXELS_MAX;
    if (SENDABLE.has(facts.format) && fits) {
      await picture.stats();
      return { status: "ready", bytes, media_type: facts.media_type, width, height, converted: false };
    }
    const scaled = fits
      ? picture
      : picture.resize({ width: SCALED_SIDE_PIXELS, height: SCALED_SIDE_PIXELS, fit: "inside" });
    const { data, info } = await scaled.png().toBuffer({ resolveWithObject: true });
    return {
      status: "ready",
      bytes: data,
      media_type: "image/png",
      width: info.width,
      height: info.height,
      converted: true,
    };
  } catch {
    const reason = SENDABLE.has(facts.format)
      ? "it is damaged or too large to decode"
      : "this format cannot be converted here";
    return { status: "unsupported", reason };
  }
}

type Size = readonly [width: number, height: number];

/** Each throws a RangeError on a header that ends too soon. */
const SIZE_READERS: Readonly<Record<ImageFormat, (bytes: Buffer) => Size | null>> = {
  png: (bytes) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
  gif: (bytes) => [bytes.readUInt16LE(6), bytes.readUInt16LE(8)],
  bmp: bmpSize,
  ico: icoSize,
  jpeg: jpegSize,
  webp: webpSize,
  tiff: tiffSize,
};

function sizeOf(bytes: Buffer, format: ImageFormat): Size | null {
  try {
    return SIZE_READERS[format](bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The oldest header, of 12 bytes, has short numbers; a negative height means that the top row comes first. */
function bmpSize(bytes: Buffer): Size {
  if (bytes.readUInt32LE(14) === 12) return [bytes.readUInt16LE(18), bytes.readUInt16LE(20)];
  return [bytes.readInt32LE(18), Math.abs(bytes.readInt32LE(22))];
}

/** "BM" alone begins many a text, so the sizes in the header must make sense too. */
function isBmp(bytes: Buffer): boolean {
  if (bytes.length < 26 || bytes.toString("latin1", 0, 2) !== "BM") return false;
  return bytes.readUInt32LE(6) === 0 && [12, 40, 52, 56, 64, 108, 124].includes(bytes.readUInt32LE(14));
}

function isIco(bytes: Buffer): boolean {
  if (bytes.length < 22 || bytes.readUInt16LE(0) !== 0 || bytes.readUInt16LE(2) !== 1) return false;
  const entries = bytes.readUInt16LE(4);
  return entries > 0 && bytes[9] === 0 && bytes.readUInt32LE(18) >= 6 + entries * 16;
}

/** In an icon 0 stands for 256 pixels. */
function icoSize(bytes: Buffer): Size {
  const sizes = icoEntries(bytes).map((at): Size => [bytes.readUInt8(at) || 256, bytes.readUInt8(at + 1) || 256]);
  return sizes.reduce((largest, size) => (size[0] > largest[0] ? size : largest));
}

function icoEntries(bytes: Buffer): number[] {
  return Array.from({ length: bytes.readUInt16LE(4) }, (_, index) => 6 + index * 16).filter(
    (at) => at + 16 <= bytes.length,
  );
}

/** The largest picture of an icon that is kept as PNG, as those of 256 pixels are. */
function embeddedPng(bytes: Buffer): Buffer | null {
  const pictures = icoEntries(bytes)
    .map((at) => bytes.subarray(bytes.readUInt32LE(at + 12), bytes.readUInt32LE(at + 12) + bytes.readUInt32LE(at + 8)))
    .filter((picture) => imageFormat(picture) === "png");
  return pictures.reduce<Buffer | null>(
    (largest, one) => (largest === null || one.length > largest.length ? one : largest),
    null,
  );
}

/** Frame headers are the markers C0 to CF without C4, C8 and CC (ITU T.81, table B.1). */
function jpegSize(bytes: Buffer): Size | null {
  for (let at = 2; bytes.readUInt8(at) === 0xff;) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** The three layouts of the WebP container specification. */
function webpSize(bytes: Buffer): Size | null {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    default:
      return null;
  }
}

/** Tags 256 and 257 of the first directory (TIFF 6.0); type 3 is a short, type 4 a long. */
function tiffSize(bytes: Buffer): Size | null {
  const little = bytes.toString("latin1", 0, 2) === "II";
  const short = (at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const directory = long(4);
  const values = new Map<number, number>();
  for (let entry = 0; entry < short(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    values.set(short(at), short(at + 2) === 3 ? short(at + 8) : long(at + 8));
  }
  const width = values.get(256);
  const height = values.get(257);
  return width === undefined || height === undefined ? null : [width, height];
}
