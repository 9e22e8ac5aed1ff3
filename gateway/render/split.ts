import { isBlank, safeCut } from "./defuse.ts";
import { afterLine, closesFence, closing, insideLine, opening, START, type SplitState } from "./split_state.ts";

/** UTF-16 units of one message. */
export const MESSAGE_LENGTH_MAX = 2000;
/** Below this a reopened code block would leave no room for code. */
export const SPLIT_LIMIT_MIN = 100;

/** One message of a longer text. `lead + body₁ + gap₁ + body₂ + gap₂ …` is the text itself, unit for unit. */
export interface SplitPart {
  /** Inserted before the body: a reopened fence, a quote mark. */
  opened: string;
  body: string;
  /** Inserted after the body: a fence that had to be closed. */
  closed: string;
  /** Left out between this part and the next: line breaks, spaces, blank stretches. */
  gap: string;
}

/** Cuts a Markdown text into messages of at most `limit` UTF-16 units (at least 100). Blank text gives no part. */
export function splitText(text: string, limit: number = MESSAGE_LENGTH_MAX): string[] {
  return splitParts(text, limit).parts.map((part) => part.opened + part.body + part.closed);
}

/** As `splitText`, with what was inserted and left out told apart. */
export function splitParts(text: string, limit: number): { lead: string; parts: SplitPart[] } {
  if (limit < SPLIT_LIMIT_MIN) throw new Error(`A text is split at ${SPLIT_LIMIT_MIN} units or more, not at ${limit}.`);
  const parts: SplitPart[] = [];
  let lead = "";
  let position = 0;
  let state = START;
  while (position < text.length) {
    const opened = opening(state, text.slice(position, position + 40));
    const cut = chooseCut(text, position, state, limit - opened.length);
    const body = text.slice(position, cut.end);
    const gap = text.slice(cut.end, cut.next);
    const previous = parts.at(-1);
    if (isBlank(body) || (state.fence !== null && closesFence(state, body))) {
      if (previous === undefined) lead += body + gap;
      else previous.gap += body + gap;
    } else {
      parts.push({ opened, body, closed: closing(cut.state_at_end), gap });
    }
    position = cut.next;
    state = cut.state;
  }
  return { lead, parts };
}

/** Where a part ends, where the next begins, and what is open at both places. */
interface Cut {
  end: number;
  next: number;
  /** Open where the body ends: this must be closed. */
  state_at_end: SplitState;
  /** Open where the next part begins: this must be opened again. */
  state: SplitState;
}

/** What was seen while walking through the lines that fit. */
interface Walk {
  /** The end of the last line that fits; null when not even one does. */
  line: Cut | null;
  /** The last place between two paragraphs, or before a code block. */
  paragraph: Cut | null;
  /** Where the line begins that does not fit, and what is open there. */
  position: number;
  state: SplitState;
  finished: boolean;
}

function chooseCut(text: string, start: number, state: SplitState, room: number): Cut {
  const walk = walkLines(text, start, state, room);
  if (walk.finished && walk.line !== null) return walk.line;
  const full = (cut: Cut, share: number): boolean => cut.end - start >= room * share;
  if (walk.paragraph !== null && full(walk.paragraph, 0.5)) return walk.paragraph;
  const overlong = lineLength(text, walk.position, room) > room;
  if (walk.line === null || (overlong && !full(walk.line, 0.4))) {
    return cutLine(text, start, walk, room) ?? walk.line ?? cutHard(text, start, state, room);
  }
  return walk.line;
}

function walkLines(text: string, start: number, state: SplitState, room: number): Walk {
  const walk: Walk = { line: null, paragraph: null, position: start, state, finished: false };
  while (walk.position < text.length) {
    const end = walk.position + lineLength(text, walk.position, room);
    const line = text.slice(walk.position, end);
    const after = afterLine(walk.state, line);
    if (closesFence(walk.state, line) && end - start > room && walk.line !== null) {
      // The inserted fence stands for this one, which may be longer or trailed by spaces.
      walk.line = { end: walk.line.end, next: Math.min(end + 1, text.length), state_at_end: walk.state, state: after };
      return walk;
    }
    if (end - start + closing(after).length > room) return walk;
    const opens = walk.state.fence === null && after.fence !== null;
    if (opens && walk.line !== null) walk.paragraph = walk.line;
    const cut: Cut = { end, next: Math.min(end + 1, text.length), state_at_end: after, state: after };
    if (after.fence === null && line.trim() === "" && walk.line !== null) {
      walk.paragraph = { ...walk.line, next: cut.next, state: after };
    }
    // A code block's first line is not left alone at the end of a part.
    if (!opens || walk.line === null) walk.line = opens ? null : cut;
    walk.position = cut.next;
    walk.state = after;
    if (end >= text.length) {
      walk.line = cut;
      walk.finished = true;
      return walk;
    }
  }
  walk.finished = walk.line !== null;
  return walk;
}

/** Units up to the line's end, looked for only as far as matters. */
function lineLength(text: string, position: number, room: number): number {
  const window = text.slice(position, position + room + 1);
  const found = window.indexOf("\n");
  return found === -1 ? window.length : found;
}

/** Cuts inside the line that does not fit: between words, else between characters, never inside a link that fits. */
function cutLine(text: string, start: number, walk: Walk, room: number): Cut | null {
  const used = walk.position - start;
  const available = room - used - closing(walk.state).length;
  if (available < 10) return null;
  const window = text.slice(walk.position, walk.position + available + room);
  const in_code = walk.state.fence !== null;
  const cut = in_code ? { end: codeCut(window, available), skip: 0 } : proseCut(window, available);
  if (cut.end <= 0) return null;
  const state = insideLine(walk.state, window.slice(0, 40));
  const end = walk.position + cut.end;
  return { end, next: end + cut.skip, state_at_end: walk.state, state };
}

function cutHard(text: string, start: number, state: SplitState, room: number): Cut {
  const available = Math.max(2, room - closing(state).length);
  const end = start + Math.max(1, safeCut(text.slice(start, start + available + 1), available));
  return { end, next: end, state_at_end: state, state: insideLine(state, text.slice(start, start + 40)) };
}

function codeCut(window: string, available: number): number {
  const space = window.lastIndexOf(" ", available - 1) + 1;
  return space > available * 0.8 ? space : characterCut(window, available);
}

function proseCut(window: string, available: number): { end: number; skip: number } {
  const space = lastSpace(window, available);
  const link = linkAround(window, space > available * 0.5 ? space : available);
  if (link !== null && link > 0) {
    const trimmed = window.slice(0, link).trimEnd().length;
    if (trimmed > 0) return { end: trimmed, skip: link - trimmed };
  }
  if (space > available * 0.5) {
    return { end: space, skip: /^[ \t]*/.exec(window.slice(space, available + 1))?.[0].length ?? 0 };
  }
  return { end: characterCut(window, available), skip: 0 };
}

/** The last place at or before `available` where a word has ended; 0 where there is none. */
function lastSpace(window: string, available: number): number {
  let index = Math.min(available, window.length - 1);
  while (index > 0 && !/[ \t]/.test(window[index] ?? "")) index -= 1;
  while (index > 0 && /[ \t]/.test(window[index - 1] ?? "")) index -= 1;
  return index;
}

const LINK = /\[[^[\]\n]{0,300}\]\([^()\s]{1,1000}\)|<?https?:\/\/\S{1,2000}/g;

/** Where the link begins that `index` would cut; null when it cuts none. */
function linkAround(window: string, index: number): number | null {
  for (const match of window.matchAll(LINK)) {
    if (match.index >= index) return null;
    if (match.index + match[0].length > index) return match.index;
  }
  return null;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Longer joined characters than this are cut: they are noise, not writing. */
const GRAPHEME_LENGTH_MAX = 40;

/** The last index ≤ `available` that does not stand inside a character as people see it. */
function characterCut(window: string, available: number): number {
  if (available >= window.length) return window.length;
  const from = safeCut(window, Math.max(0, available - GRAPHEME_LENGTH_MAX));
  const near = window.slice(from, available + GRAPHEME_LENGTH_MAX);
  let cut = 0;
  for (const { index } of graphemes.segment(near)) {
    if (from + index > available) break;
    cut = from + index;
  }
  return cut > from ? cut : Math.max(1, safeCut(window, available));
}
