import { isUtf8 } from "node:buffer";

/** `latin-1` is ISO 8859-1 to the letter: each byte is the code point of the same number, so nothing is lost. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "latin-1";

export interface TextStart {
  encoding: Exclude<TextEncoding, "latin-1">;
  /** Bytes of the byte order mark, which is not part of the text. */
  mark_bytes: number;
}

export interface DecodedText {
  text: string;
  encoding: TextEncoding;
  mark_bytes: number;
}

/** How far into a file a NUL counts as the sign of a binary file. */
export const BINARY_PROBE_BYTES = 8 * 1024;

/** What a file's first bytes say; null for a binary file. Needs `BINARY_PROBE_BYTES` of them, or the whole file. */
export function probeText(start: Uint8Array): TextStart | null {
  const [first, second, third, fourth] = start;
  if (first === 0xff && second === 0xfe) {
    const is_utf32 = third === 0 && fourth === 0;
    return is_utf32 ? null : { encoding: "utf-16le", mark_bytes: 2 };
  }
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", mark_bytes: 2 };
  if (start.subarray(0, BINARY_PROBE_BYTES).includes(0)) return null;
  const has_mark = first === 0xef && second === 0xbb && third === 0xbf;
  return { encoding: "utf-8", mark_bytes: has_mark ? 3 : 0 };
}

/** Decodes a whole file so that `encodeText` gives the same bytes back; null for a binary file. */
export function decodeText(bytes: Buffer): DecodedText | null {
  const start = probeText(bytes);
  if (start === null) return null;
  const body = bytes.subarray(start.mark_bytes);
  if (start.encoding === "utf-8" && !isUtf8(body)) {
    return { text: bytes.toString("latin1"), encoding: "latin-1", mark_bytes: 0 };
  }
  if (start.encoding === "utf-16be") return { ...start, text: swapped(body).toString("utf16le") };
  return { ...start, text: body.toString(start.encoding === "utf-8" ? "utf8" : "utf16le") };
}

/** The bytes of a text, without a byte order mark; null when the encoding has no place for one of its characters. */
export function encodeText(text: string, encoding: TextEncoding): Buffer | null {
  if (encoding === "utf-8") return Buffer.from(text, "utf8");
  if (encoding === "utf-16le") return Buffer.from(text, "utf16le");
  if (encoding === "utf-16be") return swapped(Buffer.from(text, "utf16le"));
  return /[^\0-\u{ff}]/u.test(text) ? null : Buffer.from(text, "latin1");
}

/** Tells whether bytes that come in pieces are UTF-8 as a whole; a streaming decoder would, a hundred times slower. */
export interface Utf8Check {
  feed(bytes: Buffer): void;
  end(): boolean;
}

/** A check that has seen nothing yet. */
export function createUtf8Check(): Utf8Check {
  let is_valid = true;
  let held: Buffer = Buffer.alloc(0);
  return {
    feed(bytes) {
      if (!is_valid) return;
      const joined = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const whole = joined.length - unfinishedBytes(joined);
      is_valid = isUtf8(joined.subarray(0, whole));
      held = Buffer.from(joined.subarray(whole));
    },
    end: () => is_valid && held.length === 0,
  };
}

/** How many bytes at the end begin a character that goes on in the next piece. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

/** Names for people. */
export const ENCODING_NAMES: Readonly<Record<TextEncoding, string>> = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16 (little endian)",
  "utf-16be": "UTF-16 (big endian)",
  "latin-1": "Latin-1",
};

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16();
}
