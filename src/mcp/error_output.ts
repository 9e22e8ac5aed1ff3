import type { Log } from "../lib/log.ts";
import { LineSplitter } from "./line_splitter.ts";
import { clip, plainText } from "./describe.ts";

/** Lines of one program that go to the log; a server that chats would drown it. */
const LINES_MAX = 200;
const LINE_LENGTH_MAX = 500;

/** A longer line is let go rather than kept in memory. */
const LINE_BYTES_MAX = 65_536;

/** What a server prints to stderr: its first lines go to the log, its last one explains how it ended. */
export class ErrorOutput {
  readonly #log: Log;
  readonly #lines = new LineSplitter(LINE_BYTES_MAX, (line) => this.#onLine(line));
  #count = 0;
  #last = "";

  constructor(log: Log) {
    this.#log = log;
  }

  get lastLine(): string {
    return this.#last;
  }

  push(bytes: Uint8Array): void {
    this.#lines.push(bytes);
  }

  end(): void {
    if (this.#count > LINES_MAX) this.#log.info("mcp.stderr_left_out", { lines: this.#count - LINES_MAX });
  }

  #onLine(line: string): void {
    this.#count += 1;
    this.#last = clip(plainText(line), LINE_LENGTH_MAX);
    if (this.#count <= LINES_MAX) this.#log.info("mcp.stderr", { line: this.#last });
  }
}
