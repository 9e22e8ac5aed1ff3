/**
 * At most `limit` characters (UTF-16 code units) of a text: its head and its tail, and between them a note that says
 * how much is missing and, in the words of `hint`, how to get it. A surrogate pair is never split. A limit too small
 * for a note gives the bare beginning.
 */
export function cut(text: string, limit: number, hint: string): string {
  return joinEnds(text, text, text.length, limit, hint);
}

/**
 * Keeps what `cut` needs of a text that comes in pieces, however long it gets: twice the limit at most.
 * `text(hint)` gives exactly what `cut` would have given.
 */
export class Collector {
  readonly #limit: number;
  #head = "";
  #tail: string[] = [];
  #tail_length = 0;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Characters that came in all. */
  get length(): number {
    return this.#length;
  }

  push(piece: string): void {
    if (piece === "") return;
    this.#length += piece.length;
    // One more than the limit shows whether the cut would split a pair.
    if (this.#head.length <= this.#limit) this.#head += piece.slice(0, this.#limit + 1 - this.#head.length);
    this.#tail.push(piece.length > this.#limit ? piece.slice(-this.#limit) : piece);
    this.#tail_length += this.#tail.at(-1)?.length ?? 0;
    // Joined now and then, so that a flood of tiny pieces does not cost an object each.
    if (this.#tail.length >= PIECES_MAX || this.#tail_length >= 2 * this.#limit) this.#joinTail();
  }

  text(hint: string): string {
    this.#joinTail();
    return joinEnds(this.#head, this.#tail[0] ?? "", this.#length, this.#limit, hint);
  }

  #joinTail(): void {
    const joined = this.#tail.join("").slice(-this.#limit);
    this.#tail = [joined];
    this.#tail_length = joined.length;
  }
}

const PIECES_MAX = 1024;

/** `head` begins and `tail` ends the text, each by at least `limit` characters, or by all of it. */
function joinEnds(head: string, tail: string, length: number, limit: number, hint: string): string {
  if (length <= limit) return head;
  // The note for the whole length is never shorter than the one for what is really missing.
  const kept = limit - noteOf(length, length, hint).length;
  if (kept < 2) return head.slice(0, endBefore(head, Math.max(0, limit)));
  const head_end = endBefore(head, Math.ceil(kept / 2));
  const tail_start = startAfter(tail, tail.length - Math.floor(kept / 2));
  const missing = length - head_end - (tail.length - tail_start);
  return head.slice(0, head_end) + noteOf(missing, length, hint) + tail.slice(tail_start);
}

function noteOf(missing: number, length: number, hint: string): string {
  const count = (value: number): string => value.toLocaleString("en-US");
  return `\n\n[${count(missing)} of ${count(length)} characters left out here. ${hint}]\n\n`;
}

/** The index, or one less where it would split a surrogate pair. */
function endBefore(text: string, index: number): number {
  return splitsPair(text, index) ? index - 1 : index;
}

function startAfter(text: string, index: number): number {
  return splitsPair(text, index) ? index + 1 : index;
}

function splitsPair(text: string, index: number): boolean {
  return isBetween(text.charCodeAt(index - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(index), 0xdc00, 0xdfff);
}

function isBetween(value: number, first: number, last: number): boolean {
  return value >= first && value <= last;
}
