/** Characters that a memory's key may have. */
export const MEMORY_KEY_LENGTH_MAX = 128;

/** Bytes of UTF-8 that a memory may have: a note, not an archive. */
export const MEMORY_VALUE_BYTES_MAX = 64 * 1024;

export type CheckedText = { ok: true; text: string } | { ok: false; error: string };

/**
 * The one form of a key: composed (NFC), trimmed, in lower case by Unicode's own rules, with `_` for each run of white
 * space and hyphens. Full-width and other look-alike characters stay what they are, so they make keys of their own.
 */
export function memoryKey(key: string): CheckedText {
  const text = printable(key)
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/gu, "_")
    .normalize("NFC");
  if (text === "") return { ok: false, error: "key is empty. Give a short name, such as user_name." };
  if (text.length > MEMORY_KEY_LENGTH_MAX) {
    return { ok: false, error: `key has more than ${MEMORY_KEY_LENGTH_MAX} characters. Give a short name.` };
  }
  return { ok: true, text };
}

/** A value as it is kept: trimmed, without the NULs and half surrogate pairs that no database takes. */
export function memoryValue(value: string): CheckedText {
  const text = printable(value).trim();
  if (text === "") return { ok: false, error: "value is empty. To delete a memory use forget." };
  const bytes = Buffer.byteLength(text);
  if (bytes <= MEMORY_VALUE_BYTES_MAX) return { ok: true, text };
  const advice = "Keep the gist, or write a file and remember its path.";
  return {
    ok: false,
    error: `value has ${bytes.toLocaleString("en-US")} bytes, and a memory may have 65,536. ${advice}`,
  };
}

function printable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}
