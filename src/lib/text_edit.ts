/** One place where a text matches, in UTF-16 units of the file's text. */
export interface Match {
  start: number;
  end: number;
  /** Of its start; 1 for the first. Lines end at LF only. */
  line: number;
}

export type Search =
  | { status: "found"; matches: Match[]; verbatim: boolean }
  | { status: "too_many" }
  | { status: "none" };

/** Matches looked at; a text that matches more often says too little about the place that is meant. */
const MATCHES_MAX = 10_000;

/**
 * Every place where `wanted` stands, overlapping ones too. A line break in `wanted` matches LF and CRLF alike, as both
 * look the same to whoever wrote it; a `wanted` that names CR itself is first looked for to the letter (`verbatim`).
 */
export function findMatches(text: string, wanted: string): Search {
  if (wanted.includes("\r")) {
    const exact = scan(text, wanted, (index) => index);
    if (exact.status !== "none") return { ...exact, ...(exact.status === "found" ? { verbatim: true } : {}) };
  }
  const breaks = crlfPositions(text);
  if (breaks.length === 0) return scan(text, plainBreaks(wanted), (index) => index);
  return scan(plainBreaks(text), plainBreaks(wanted), (index) => index + countBefore(breaks, index));
}

/** The match whose line is nearest; of two as near, the earlier. */
export function nearestMatch(matches: readonly Match[], near_line: number): Match | undefined {
  return matches.reduce<Match | undefined>((best, match) => {
    if (best === undefined) return match;
    return Math.abs(match.line - near_line) < Math.abs(best.line - near_line) ? match : best;
  }, undefined);
}

/**
 * What to put in the place of `matched` so that it reads as `replacement`. Line breaks that both share keep their form;
 * new ones take the form of their neighbours, or of the text around. CRLF that is asked for in a text that has none is
 * meant as it stands.
 */
export function replacementFor(matched: string, replacement: string, text_around: string): string {
  if (!replacement.includes("\n")) return replacement;
  if (replacement.includes("\r\n") && !text_around.includes("\r\n")) return replacement;
  const old_lines = plainBreaks(matched).split("\n");
  const new_lines = plainBreaks(replacement).split("\n");
  const old_breaks = matched.match(/\r?\n/g) ?? [];
  const shared = (from_end: boolean): number => {
    const most = Math.min(old_lines.length, new_lines.length) - 1;
    const pick = (lines: string[], index: number): string | undefined => lines.at(from_end ? -1 - index : index);
    let count = 0;
    while (count < most && pick(old_lines, count) === pick(new_lines, count)) count += 1;
    return count;
  };
  const head = shared(false);
  const tail = shared(true);
  const breaks_added = new_lines.length - old_lines.length;
  const fallback = old_breaks.at(-1) ?? prevailingBreak(text_around);
  return new_lines.reduce((text, line, index) => {
    if (index === 0) return line;
    const at = index - 1;
    const from_tail = at >= new_lines.length - 1 - tail && at >= head;
    return text + (old_breaks[from_tail ? at - breaks_added : at] ?? fallback) + line;
  }, "");
}

/** The first line where `wanted` stands if white space is left out of both; null when it stands nowhere even so. */
export function lineUpToSpace(text: string, wanted: string): number | null {
  const bare = wanted.replace(/\s+/g, "");
  if (bare === "") return null;
  const at = text.replace(/\s+/g, "").indexOf(bare);
  if (at === -1) return null;
  let seen = 0;
  let line = 1;
  for (const piece of text.split("\n")) {
    seen += piece.replace(/\s+/g, "").length;
    if (seen > at) return line;
    line += 1;
  }
  return null;
}

/** `wanted` without the line numbers that `read_file` puts before each line; null when it has none. */
export function withoutGutter(wanted: string): string | null {
  const lines = wanted.split("\n");
  const gutter = /^ *\d+\t/;
  if (!gutter.test(lines[0] ?? "")) return null;
  return lines.map((line) => line.replace(gutter, "")).join("\n");
}

function scan(text: string, wanted: string, original: (index: number) => number): Search {
  const matches: Match[] = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (matches.length === MATCHES_MAX) return { status: "too_many" };
    for (let next = text.indexOf("\n", counted); next !== -1 && next < at; next = text.indexOf("\n", counted)) {
      line += 1;
      counted = next + 1;
    }
    matches.push({ start: original(at), end: original(at + wanted.length), line });
  }
  return matches.length === 0 ? { status: "none" } : { status: "found", matches, verbatim: false };
}

function plainBreaks(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Where each CRLF's line break stands once all CRs before line breaks are gone. */
function crlfPositions(text: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) {
    positions.push(at - positions.length);
  }
  return positions;
}

/** How many of the sorted numbers are smaller. */
function countBefore(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function prevailingBreak(text: string): "\n" | "\r\n" {
  const crlf = text.split("\r\n").length - 1;
  const lf = text.split("\n").length - 1 - crlf;
  return crlf > lf ? "\r\n" : "\n";
}
