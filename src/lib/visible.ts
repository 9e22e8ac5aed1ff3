/**
 * Characters that a reader cannot see or that reorder what is seen, so that a text could read otherwise than it runs:
 * controls but for tab and line feed, bidirectional marks and overrides, zero-width spaces, fillers, line separators
 * and tags. Joiners stay, since emoji and several scripts need them.
 */
const INVISIBLE = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u{ad}\\u{34f}\\u{61c}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}\\u{180e}" +
    "\\u{200b}\\u{200e}\\u{200f}\\u{2028}-\\u{202e}\\u{2060}-\\u{206f}\\u{3164}\\u{feff}\\u{ffa0}" +
    "\\u{fff9}-\\u{fffb}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e007f}]",
  "gu",
);

/** The text with each such character written out, for people who decide by what they see. */
export function visible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "␡" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** The same on one line, for headers. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "␊");
}

/**
 * What nobody sees where it stands alone, though it is not among the above: joiners, variation selectors, an empty
 * Braille cell.
 */
const UNSEEN_ALONE = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Whether there is nothing to see. */
export function isBlank(text: string): boolean {
  return text.replace(INVISIBLE, "").replace(UNSEEN_ALONE, "").trim() === "";
}
