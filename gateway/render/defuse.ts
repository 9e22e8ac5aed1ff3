/**
 * Text that we did not write, made harmless and honest inside our own formatting. Whoever approves a command must see
 * every character of it.
 */

/** Zero-width, bidirectional and other characters that change what is read without being seen. */
const INVISIBLE = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5",
    "\\u180b-\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0",
    "\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]",
  ].join(""),
  "gu",
);

/** Names each invisible character by its code point, such as `⟨U+202E⟩`. Line breaks and tabs stay. */
export function showInvisible(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** A fenced block that shows `text` literally: fences inside it are replaced by look-alikes. */
export function codeBlock(text: string, language = ""): string {
  const shown = showInvisible(text).replaceAll("```", "``\u02cb");
  return `\`\`\`${language}\n${shown}\n\`\`\``;
}

/** One line as inline code, cut to `length_max` characters. */
export function inlineCode(text: string, length_max = 200): string {
  const shown = showInvisible(text)
    .replace(/\s*\n\s*/g, " ⏎ ")
    .replaceAll("`", "\u02cb")
    .trim();
  return `\`${clip(shown === "" ? " " : shown, length_max)}\``;
}

/** Plain words in a Markdown text: no character of it formats, links or mentions anything. One line. */
export function plainText(text: string): string {
  return showInvisible(text)
    .replace(/\s*\n\s*/g, " ")
    .replace(/[\\*_~`|>#[\]()<@:]/g, (character) => `\\${character}`)
    .trim()
    .replace(/^-/, "\\-");
}

/** At most `length_max` UTF-16 units, ending in an ellipsis where something was cut, never inside a surrogate pair. */
export function clip(text: string, length_max: number): string {
  if (text.length <= length_max) return text;
  return `${safeSlice(text, length_max - 1)}…`;
}

/** The first `length` UTF-16 units, one less where that would halve a surrogate pair. */
export function safeSlice(text: string, length: number): string {
  return text.slice(0, safeCut(text, length));
}

/** The largest index ≤ `index` that does not stand inside a surrogate pair. */
export function safeCut(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return Math.max(0, Math.min(index, text.length));
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  const inside = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return inside ? index - 1 : index;
}

/** Whether there is anything to see. */
export function isBlank(text: string): boolean {
  return text.replace(INVISIBLE, "").trim() === "";
}
