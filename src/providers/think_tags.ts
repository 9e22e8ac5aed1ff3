/** Pairs that open models put around their reasoning when the server does not take it out. */
const TAGS: readonly { open: string; close: string }[] = [
  { open: "<think>", close: "</think>" },
  { open: "<thinking>", close: "</thinking>" },
  { open: "<reasoning>", close: "</reasoning>" },
];

/** Where the pieces of a text go. */
export interface ThinkTagSink {
  content(text: string): void;
  reasoning(text: string): void;
}

/**
 * Divides streamed text into reasoning and answer. A tag counts only where models put it: before the first word of the
 * answer. Anywhere later it is part of what the model says, such as prose about tags. Tags may be split over chunks.
 */
export class ThinkTags {
  #state: "before" | "inside" | "after" = "before";
  #close = "";
  #held = "";
  /** Reasoning has come, and with it the blank lines that stand between it and the answer. */
  #thought = false;
  readonly #sink: ThinkTagSink;

  constructor(sink: ThinkTagSink) {
    this.#sink = sink;
  }

  /** Takes the next chunk. */
  push(text: string): void {
    if (this.#state === "after" && this.#held === "") {
      this.#sink.content(text);
      return;
    }
    this.#held += text;
    while (this.#held !== "" && this.#step());
  }

  /** Gives out what is held back: the text ends here, or a call follows. */
  flush(): void {
    const rest = this.#thought && this.#state === "before" ? this.#held.trimStart() : this.#held;
    this.#held = "";
    if (rest === "" || (this.#state === "before" && rest.trim() === "")) return;
    if (this.#state === "inside") this.#sink.reasoning(rest);
    else this.#sink.content(rest);
  }

  /** Handles as much of what is held as can be decided; false when more text is needed. */
  #step(): boolean {
    if (this.#state === "before") return this.#stepBefore();
    if (this.#state === "inside") return this.#stepInside();
    this.#sink.content(this.#held);
    this.#held = "";
    return false;
  }

  #stepBefore(): boolean {
    const text = this.#held.trimStart();
    const tag = TAGS.find(({ open }) => text.startsWith(open));
    if (tag !== undefined) {
      this.#state = "inside";
      this.#close = tag.close;
      this.#held = text.slice(tag.open.length);
      return true;
    }
    if (TAGS.some(({ open }) => open.startsWith(text))) return false;
    this.#state = "after";
    if (this.#thought) this.#held = text;
    return true;
  }

  #stepInside(): boolean {
    const end = this.#held.indexOf(this.#close);
    if (end >= 0) {
      if (end > 0) this.#sink.reasoning(this.#held.slice(0, end));
      this.#state = "before";
      this.#thought = true;
      this.#held = this.#held.slice(end + this.#close.length);
      return true;
    }
    const kept = suffixThatStarts(this.#close, this.#held);
    if (kept < this.#held.length) this.#sink.reasoning(this.#held.slice(0, this.#held.length - kept));
    this.#held = this.#held.slice(this.#held.length - kept);
    return false;
  }
}

/** Length of the longest end of `text` that is a beginning of `tag`. */
function suffixThatStarts(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
