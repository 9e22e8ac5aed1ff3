/** A line longer than this is handed on in parts; a progress bar is shorter. */
const LINE_HELD_MAX = 4096;
/** An operating system command (a window's title, a link) longer than this is no such thing. */
const STRING_SEQUENCE_MAX = 4096;

/**
 * What follows an escape character, by ECMA-48: nothing, one more character, parameters, or a string with a
 * terminator.
 */
type Sequence = "none" | "escape" | "parameters" | "string" | "string_escape";

/**
 * Turns the bytes that a program writes to a terminal into text for people and models, whatever the borders between the
 * pieces: UTF-8 with U+FFFD for invalid bytes, no escape sequences, no control characters but tab and line feed, and
 * of a line that overwrites itself by carriage returns or backspaces its last state. Whole lines come out as they are
 * complete.
 */
export class TerminalText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #sequence: Sequence = "none";
  #sequence_length = 0;
  /** The line so far, as long as it may still be overwritten. */
  #line = "";
  /** Whether a part of the line was handed on, which nothing can overwrite. */
  #line_begun = false;
  #carriage_return = false;

  /** The lines that are complete with these bytes. */
  write(bytes: Uint8Array): string {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What is left at the end. */
  end(): string {
    const lines = this.#read(this.#decoder.decode());
    const rest = this.#line;
    this.#line = "";
    return lines + rest;
  }

  #read(text: string): string {
    if (this.#isPlain(text)) return this.#readPlain(text);
    return this.#readEach(text);
  }

  #readEach(text: string): string {
    let done = "";
    for (const character of text) {
      if (this.#sequence !== "none" && this.#skip(character)) continue;
      done += this.#readCharacter(character);
    }
    return done;
  }

  #isPlain(text: string): boolean {
    return this.#sequence === "none" && !this.#carriage_return && !this.#line_begun && !CONTROL.test(text);
  }

  /** The short way for text that has nothing to interpret. */
  #readPlain(text: string): string {
    const end = text.lastIndexOf("\n") + 1;
    if (text.length - end + (end === 0 ? this.#line.length : 0) >= LINE_HELD_MAX) {
      return this.#readEach(text);
    }
    if (end === 0) {
      this.#line += text;
      return "";
    }
    const done = this.#line + text.slice(0, end);
    this.#line = text.slice(end);
    return done;
  }

  #readCharacter(character: string): string {
    const code = character.charCodeAt(0);
    if (code === 0x0a) return this.#endLine();
    if (code === 0x0d) {
      this.#carriage_return = true;
      return "";
    }
    if (code === 0x1b || code === 0x9b) {
      this.#sequence = code === 0x1b ? "escape" : "parameters";
      this.#sequence_length = 0;
      return "";
    }
    if (code === 0x08) {
      this.#line = this.#line.replace(/(?:[\ud800-\udbff][\udc00-\udfff]|[^])$/, "");
      return "";
    }
    if (isControl(code)) return "";
    return this.#append(character);
  }

  #append(character: string): string {
    let done = "";
    if (this.#carriage_return) {
      if (this.#line_begun) done = `${this.#line}\n`;
      this.#line = "";
      this.#line_begun = false;
      this.#carriage_return = false;
    }
    this.#line += character;
    if (this.#line.length < LINE_HELD_MAX) return done;
    done += this.#line;
    this.#line = "";
    this.#line_begun = true;
    return done;
  }

  #endLine(): string {
    const done = `${this.#line}\n`;
    this.#line = "";
    this.#line_begun = false;
    this.#carriage_return = false;
    return done;
  }

  /** Whether the character belongs to an escape sequence. */
  #skip(character: string): boolean {
    const code = character.charCodeAt(0);
    const sequence = this.#sequence;
    this.#sequence_length += 1;
    // A broken sequence takes no more than its line, and no more than a few characters of that.
    if (code === 0x0a || this.#sequence_length > STRING_SEQUENCE_MAX) {
      this.#sequence = "none";
      return false;
    }
    switch (sequence) {
      case "none":
        return false;
      case "escape":
        if (character === "[") this.#sequence = "parameters";
        else if ("]PX^_".includes(character)) this.#sequence = "string";
        else if (code < 0x20 || code > 0x2f) this.#sequence = "none";
        return true;
      case "parameters":
        if (code >= 0x40 && code <= 0x7e) this.#sequence = "none";
        return true;
      case "string":
        if (code === 0x07 || code === 0x9c) this.#sequence = "none";
        else if (code === 0x1b) this.#sequence = "string_escape";
        return true;
      case "string_escape":
        this.#sequence = character === "\\" ? "none" : "string";
        return true;
    }
  }
}

/** A whole text made readable at once. */
export function terminalText(bytes: Uint8Array): string {
  const text = new TerminalText();
  return text.write(bytes) + text.end();
}

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
}
