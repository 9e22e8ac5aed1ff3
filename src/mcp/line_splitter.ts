import { StringDecoder } from "node:string_decoder";

/** Cuts a stream of bytes into lines, whatever pieces they come in. Blank lines are left out. */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  /** Joined when the line is whole, so that a long one costs its length and not its square. */
  #pieces: string[] = [];
  #length = 0;

  constructor(limit: number, onLine: (line: string) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
  }

  /** False when a line grows beyond the limit; what came of it is let go. */
  push(bytes: Uint8Array): boolean {
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#pieces.push(text.slice(from, end));
      this.#finish();
      from = end + 1;
    }
    this.#pieces.push(text.slice(from));
    this.#length += text.length - from;
    if (this.#length <= this.#limit) return true;
    this.#pieces = [];
    this.#length = 0;
    return false;
  }

  #finish(): void {
    const line = this.#pieces.join("").trim();
    this.#pieces = [];
    this.#length = 0;
    if (line !== "") this.#onLine(line);
  }
}
