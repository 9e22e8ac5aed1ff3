import { createHash } from "node:crypto";
import { imageFormat } from "./image.ts";
import { chunksOf, type OpenedFile } from "./open_file.ts";
import { BINARY_PROBE_BYTES, createUtf8Check, probeText, type TextEncoding, type TextStart } from "./text_encoding.ts";

/** Which lines are wanted, and how much of them. */
export interface LineRange {
  /** 1 for the first line. */
  first: number;
  count: number;
  /** Of all lines together: a range that is longer ends early, at a whole line. */
  characters_max: number;
  /** Of one line: a longer one is clipped. */
  line_characters_max: number;
  /** A longer file is given up on. */
  file_bytes_max: number;
}

export interface ReadLine {
  text: string;
  /** Bytes of the whole line; set when the text is only its beginning. */
  clipped_of_bytes: number | null;
}

export type ReadText =
  | {
      status: "read";
      lines: ReadLine[];
      total_lines: number;
      encoding: TextEncoding;
      /** How many lines end in CR and LF; the CR of these is not in the text. */
      crlf_lines: number;
      /** How many end in LF alone. The last line may end in neither. */
      lf_lines: number;
      /** SHA-256 of all bytes. */
      hash: string;
    }
  | { status: "binary" }
  | { status: "picture" }
  | { status: "too_large" };

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** UTF-8 takes at most four bytes a character, so this many always hold the wanted ones whole. */
const BYTES_PER_CHARACTER = 4;

/**
 * Reads a range of lines in one pass over the file, in memory that depends on the range alone. Lines end at LF and
 * nowhere else: a lone CR, a form feed or U+2028 stays inside its line. Rejects with the signal's reason or the
 * system's error.
 */
export async function readLines(
  file: Extract<OpenedFile, { status: "open" }>,
  range: LineRange,
  signal: AbortSignal,
): Promise<ReadText> {
  const hash = createHash("sha256");
  const collector = createCollector(range);
  let held: Buffer = Buffer.alloc(0);
  let text: OpenText | null = null;
  let length = 0;
  for await (const chunk of chunksOf(file, signal)) {
    hash.update(chunk);
    length += chunk.length;
    if (length > range.file_bytes_max) return { status: "too_large" };
    if (text !== null) {
      collector.feed(text.decode(chunk));
      continue;
    }
    held = Buffer.concat([held, chunk]);
    if (length < BINARY_PROBE_BYTES) continue;
    text = openText(held);
    if (text === null) return notText(held);
    collector.feed(text.decode(held.subarray(text.mark_bytes)));
  }
  if (text === null) {
    text = openText(held);
    if (text === null) return notText(held);
    collector.feed(text.decode(held.subarray(text.mark_bytes)));
  }
  return { status: "read", hash: hash.digest("hex"), ...collector.end(text.encoding) };
}

interface OpenText extends TextStart {
  decode(bytes: Buffer): Buffer;
}

function notText(beginning: Buffer): ReadText {
  return { status: imageFormat(beginning) === null ? "binary" : "picture" };
}

function openText(beginning: Buffer): OpenText | null {
  if (imageFormat(beginning) !== null) return null;
  const start = probeText(beginning);
  return start === null ? null : { ...start, decode: decoderFor(start) };
}

/** UTF-16 becomes UTF-8, so that lines are found in one way; UTF-8 stays as it is. */
function decoderFor(start: TextStart): (bytes: Buffer) => Buffer {
  if (start.encoding === "utf-8") return (bytes) => bytes;
  const decoder = new TextDecoder(start.encoding);
  return (bytes) => Buffer.from(decoder.decode(bytes, { stream: true }), "utf8");
}

interface KeptLine {
  pieces: Buffer[];
  kept_bytes: number;
  bytes: number;
}

function emptyLine(): KeptLine {
  return { pieces: [], kept_bytes: 0, bytes: 0 };
}

interface Collector {
  feed(bytes: Buffer): void;
  end(encoding: TextStart["encoding"]): {
    lines: ReadLine[];
    total_lines: number;
    encoding: TextEncoding;
    crlf_lines: number;
    lf_lines: number;
  };
}

function createCollector(range: LineRange): Collector {
  const utf8 = createUtf8Check();
  const line_bytes_max = range.line_characters_max * BYTES_PER_CHARACTER;
  const all_bytes_max = range.characters_max * BYTES_PER_CHARACTER;
  const lines: KeptLine[] = [];
  let number = 1;
  let line = emptyLine();
  let last_byte = -1;
  let crlf_lines = 0;
  let lf_lines = 0;
  let all_bytes = 0;

  const isWanted = (): boolean =>
    number >= range.first && number < range.first + range.count && all_bytes <= all_bytes_max;
  const add = (bytes: Buffer, from: number, to: number): void => {
    if (to === from) return;
    line.bytes += to - from;
    last_byte = bytes[to - 1] ?? -1;
    const room = line_bytes_max - line.kept_bytes;
    if (room <= 0 || !isWanted()) return;
    const piece = Buffer.from(bytes.subarray(from, Math.min(to, from + room)));
    line.pieces.push(piece);
    line.kept_bytes += piece.length;
    all_bytes += piece.length;
  };
  const close = (): void => {
    if (isWanted()) {
      lines.push(line);
      line = emptyLine();
    }
    number += 1;
    line.bytes = 0;
    last_byte = -1;
  };
  return {
    feed(bytes) {
      utf8.feed(bytes);
      let from = 0;
      for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
        add(bytes, from, at);
        if (last_byte === CARRIAGE_RETURN) {
          crlf_lines += 1;
          line.bytes -= 1;
        } else {
          lf_lines += 1;
        }
        close();
        from = at + 1;
      }
      add(bytes, from, bytes.length);
    },
    end(encoding) {
      if (line.bytes > 0) close();
      const decoded = utf8.end() ? "utf-8" : "latin-1";
      return {
        lines: fitting(
          lines.map((kept) => finishLine(kept, decoded, range.line_characters_max)),
          range.characters_max,
        ),
        total_lines: number - 1,
        encoding: encoding === "utf-8" ? decoded : encoding,
        crlf_lines,
        lf_lines,
      };
    },
  };
}

function finishLine(line: KeptLine, encoding: "utf-8" | "latin-1", characters_max: number): ReadLine {
  const bytes = Buffer.concat(line.pieces).subarray(0, line.bytes);
  const whole = bytes.toString(encoding === "utf-8" ? "utf8" : "latin1");
  if (line.kept_bytes >= line.bytes && whole.length <= characters_max) return { text: whole, clipped_of_bytes: null };
  return { text: sliceWhole(whole, characters_max), clipped_of_bytes: line.bytes };
}

/** The first lines that together stay within the limit; at least one. */
function fitting(lines: ReadLine[], characters_max: number): ReadLine[] {
  let characters = 0;
  const end = lines.findIndex((line, index) => {
    characters += line.text.length + 8;
    return index > 0 && characters > characters_max;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

/** The beginning of a text, without half a surrogate pair at its end. */
function sliceWhole(text: string, length: number): string {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? length - 1 : length);
}
