import { counted } from "../words.ts";

/** About a paragraph or two: small enough to leave much out, large enough to be understood. */
const PASSAGE_CHARACTERS = 1000;

/** What a note on a gap takes, with the heading that it repeats. */
const GAP_CHARACTERS = 200;
const HEADING_CHARACTERS = 100;

/** The usual constants of BM25: how soon repetition stops counting, and how much length counts against a passage. */
const REPETITION = 1.2;
const LENGTH_WEIGHT = 0.75;

interface Passage {
  text: string;
  /** The heading it stands under; empty where it begins with it, or there is none. */
  heading: string;
}

/**
 * The parts of a text that bear on the question, in their order, within `budget` characters: its beginning, then the
 * passages that BM25 ranks highest, then what else fits. Notes say what is left out. A text that fits stays whole.
 */
export function relevantPart(text: string, question: string, budget: number): string {
  if (text.length <= budget) return text;
  const passages = passagesOf(text);
  const ranked = scores(passages, question)
    .map((score, index) => ({ index, score: index === 0 ? Infinity : score }))
    .toSorted((one, other) => other.score - one.score || one.index - other.index);
  const chosen = new Set<number>();
  let room = budget - GAP_CHARACTERS;
  for (const { index } of ranked) {
    const cost = (passages[index]?.text.length ?? 0) + GAP_CHARACTERS;
    if (cost > room) continue;
    chosen.add(index);
    room -= cost;
  }
  return join(passages, chosen);
}

function join(passages: readonly Passage[], chosen: ReadonlySet<number>): string {
  const parts: string[] = [];
  let missing = 0;
  for (const [index, { text, heading }] of passages.entries()) {
    if (!chosen.has(index)) {
      missing += text.length;
      continue;
    }
    if (missing > 0) parts.push(gapNote(missing) + (heading === "" ? "" : ` Under “${heading}”:`));
    missing = 0;
    parts.push(text);
  }
  if (missing > 0) parts.push(gapNote(missing));
  return parts.join("\n\n");
}

function gapNote(missing: number): string {
  return `[${counted(missing, "character")} left out here.]`;
}

/** Paragraphs, packed up to the size of a passage. A heading begins a new one; a longer paragraph is divided. */
function passagesOf(text: string): Passage[] {
  const passages: Passage[] = [];
  let pieces: string[] = [];
  let length = 0;
  let heading = "";
  let heading_before = "";
  const finish = (): void => {
    if (pieces.length > 0) passages.push({ text: pieces.join("\n\n"), heading: heading_before });
    pieces = [];
    length = 0;
    heading_before = heading;
  };
  for (const paragraph of text.split(/\n{2,}/)) {
    const own_heading = /^#{1,6} (.*)/.exec(paragraph)?.[1];
    if (own_heading !== undefined || length + paragraph.length > PASSAGE_CHARACTERS) finish();
    if (own_heading !== undefined) {
      heading = own_heading.slice(0, HEADING_CHARACTERS);
      heading_before = "";
    }
    for (const piece of divide(paragraph)) {
      if (length > 0 && length + piece.length > PASSAGE_CHARACTERS) finish();
      pieces.push(piece);
      length += piece.length;
    }
  }
  finish();
  return passages;
}

/** A paragraph in pieces of a passage's size, at the end of a line or a word where there is one. */
function divide(paragraph: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (paragraph.length - start > PASSAGE_CHARACTERS) {
    const window = paragraph.slice(start, start + PASSAGE_CHARACTERS);
    const half = PASSAGE_CHARACTERS / 2;
    const border = [window.lastIndexOf("\n"), window.lastIndexOf(" ")].find((index) => index > half);
    const end = start + (border ?? PASSAGE_CHARACTERS);
    pieces.push(paragraph.slice(start, end));
    start = end;
  }
  if (start < paragraph.length || pieces.length === 0) pieces.push(paragraph.slice(start));
  return pieces;
}

function scores(passages: readonly Passage[], question: string): number[] {
  const wanted = new Set(terms(question));
  const counts = passages.map((passage) => countTerms(`${passage.heading}\n${passage.text}`, wanted));
  const average = counts.reduce((sum, count) => sum + count.length, 0) / Math.max(1, counts.length);
  const total: number[] = Array.from(passages, () => 0);
  for (const term of wanted) {
    const having = counts.filter((count) => count.found.has(term)).length;
    const rarity = Math.log(1 + (passages.length - having + 0.5) / (having + 0.5));
    for (const [index, count] of counts.entries()) {
      const times = count.found.get(term) ?? 0;
      const damping = REPETITION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * count.length) / Math.max(1, average));
      total[index] = (total[index] ?? 0) + (rarity * times * (REPETITION + 1)) / (times + damping);
    }
  }
  return total;
}

function countTerms(text: string, wanted: ReadonlySet<string>): { found: Map<string, number>; length: number } {
  const found = new Map<string, number>();
  const all = terms(text);
  for (const term of all) if (wanted.has(term)) found.set(term, (found.get(term) ?? 0) + 1);
  return { found, length: all.length };
}

/** Scripts that put no space between words; two characters side by side stand for a word. */
const UNSPACED = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}";
const WORD = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, "gu");
const UNSPACED_WORD = new RegExp(`^[${UNSPACED}]`, "u");

/** Words without case, accents and the commonest English endings. */
function terms(text: string): string[] {
  const folded = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return (folded.match(WORD) ?? []).flatMap((word) => (UNSPACED_WORD.test(word) ? pairs(word) : [stem(word)]));
}

function pairs(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function stem(word: string): string {
  const bare = word.replace(/(?:ings?|e?s|ed|e)$/, "");
  return bare.length >= 3 ? bare : word;
}
