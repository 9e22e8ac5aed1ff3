/** Bytes at the start of a document in which a declaration of its charset must lie, and then some. */
const DECLARATION_BYTES = 4096;

const META_CHARSET = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i;
const XML_ENCODING = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i;

/**
 * The text of a document: by its byte order mark, else by the charset that its header names, else by what it declares
 * itself, else as UTF-8, else as Windows-1252, which is what pages that say nothing have mostly been written in. A mark
 * of U+FFFD stands for what cannot be read.
 */
export function decodePage(bytes: Uint8Array, header_charset: string | null): string {
  const marked = byteOrderMark(bytes);
  const declared = marked ?? decoderName(header_charset) ?? decoderName(declaredCharset(bytes));
  if (declared !== null) return new TextDecoder(declared).decode(bytes);
  try {
    // A document that was cut off may end in the middle of a character: streaming lets that pass.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function byteOrderMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : null;
}

/** A declaration that can be read as ASCII is not in UTF-16, whatever it says (HTML standard, "prescan"). */
function declaredCharset(bytes: Uint8Array): string | null {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_BYTES));
  const name = (XML_ENCODING.exec(start) ?? META_CHARSET.exec(start))?.[1] ?? null;
  return name !== null && /^utf-?16/i.test(name) ? "utf-8" : name;
}

/** The name of a decoder for a label; null where there is none. */
function decoderName(label: string | null): string | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}
