import { visible, visibleLine } from "../lib/visible.ts";

/** Enough to know what a line is; the rest of a bundled file's line is noise. */
export const LINE_CHARACTERS_MAX = 1024;
/** Matching lines of one file. */
export const FILE_MATCHES_MAX = 200;
/** What is kept of all results before they are sorted and cut; beyond it they are only counted. */
const KEPT_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Of one raw line or message: enough for a path and a cut line. */
const RAW_LINE_CHARACTERS_MAX = 16 * 1024;

interface FileMatches {
  lines: string[];
  count: number;
}

/**
 * Reads what ripgrep and grep write with `--null`: the path, NUL, the line's number, `:` or `-`, the line. A path may
 * hold any other byte; what comes without a NUL is a message of the program, or the first line of a path with a line
 * feed.
 */
export class SearchResults {
  readonly #decoder = new TextDecoder();
  readonly #files = new Map<string, FileMatches>();
  #raw = "";
  #pending = "";
  #kept = 0;
  #matches = 0;

  write(bytes: Uint8Array): void {
    this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#read(this.#decoder.decode());
    if (this.#raw !== "") this.#line(this.#raw);
    this.#raw = "";
  }

  get matches(): number {
    return this.#matches;
  }

  get files(): number {
    return this.#files.size;
  }

  /** What the program said besides, such as what is wrong with a pattern. */
  get message(): string {
    return this.#pending.trim();
  }

  /** Files of which only the first lines are here. */
  get clipped_files(): number {
    return [...this.#files.values()].filter((file) => file.count >= FILE_MATCHES_MAX).length;
  }

  /** All that was kept as `path:line:text`, by path. */
  text(nameOf: (path: string) => string): string {
    return [...this.#files]
      .map(([path, { lines }]) => ({ name: visibleLine(nameOf(path)), lines }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .flatMap(({ name, lines }) => lines.map((line) => `${name}:${line}\n`))
      .join("");
  }

  #read(text: string): void {
    const pieces = text.split("\n");
    for (const [index, piece] of pieces.entries()) {
      if (this.#raw.length < RAW_LINE_CHARACTERS_MAX) this.#raw += piece.slice(0, RAW_LINE_CHARACTERS_MAX);
      if (index === pieces.length - 1) return;
      this.#line(this.#raw);
      this.#raw = "";
    }
  }

  #line(raw: string): void {
    const end = raw.indexOf("\0");
    if (end < 0) {
      if (this.#pending.length < RAW_LINE_CHARACTERS_MAX) this.#pending += `${raw}\n`;
      return;
    }
    const path = this.#pending + raw.slice(0, end);
    this.#pending = "";
    const file = this.#files.get(path) ?? { lines: [], count: 0 };
    this.#files.set(path, file);
    file.count += 1;
    this.#matches += 1;
    if (this.#kept >= KEPT_CHARACTERS_MAX) return;
    const line = shorten(raw.slice(end + 1).replace(/\r$/, ""));
    file.lines.push(line);
    this.#kept += path.length + line.length;
  }
}

function shorten(line: string): string {
  const shown = visible(line);
  return shown.length <= LINE_CHARACTERS_MAX
    ? shown
    : `${shown.slice(0, LINE_CHARACTERS_MAX - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
