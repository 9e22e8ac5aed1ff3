/** Deeper quotes and lists are no longer set in: what is nested this deep is layout. */
const INDENT_LEVELS_MAX = 6;

/** Cells in cells in cells are layout; deeper ones flow into the cell around them. */
const CELL_LEVELS_MAX = 4;

/** A row of longer cells is set as blocks: it is layout, or too wide to be read as a row. */
const CELL_CHARACTERS_MAX = 400;

/** Text of one column: a page, or a cell of a table. */
interface Column {
  /** Finished lines; an empty one between blocks. */
  lines: string[];
  /** The line being written. */
  pieces: string[];
  /** Whether a space would be doubled here. */
  at_space: boolean;
  /** How many lines have begun, which tells whether a link still stands where it began. */
  line_number: number;
}

interface Link {
  target: string | null;
  column: Column;
  line_number: number;
  first_piece: number;
}

interface Row {
  cells: string[];
  has_head: boolean;
}

interface Table {
  row: Row | null;
  /** Whether the line under the head, or what stands in its place, is written. */
  headed: boolean;
  /** The cell being written; those around it wait in `#columns`. */
  in_cell: boolean;
}

/**
 * Puts running text, block borders and marks together to plain text. White space is folded as browsers do.
 * Every element costs the same, however deep it lies.
 */
export class TextWriter {
  #column: Column = newColumn();
  readonly #columns: Column[] = [];
  readonly #links: Link[] = [];
  readonly #lists: { number: number | null }[] = [];
  readonly #tables: Table[] = [];
  #quotes = 0;
  /** Goes before the next text of a line, such as a bullet. */
  #mark = "";
  /** How many preformatted elements are open. */
  #fences = 0;
  #fence: string[] = [];
  #fence_language = "";

  write(text: string): void {
    if (this.#fences > 0) {
      this.#fence.push(text);
      return;
    }
    const column = this.#column;
    const folded = text.replace(/[\s\u00a0]+/g, " ");
    const fresh = column.at_space && folded.startsWith(" ") ? folded.slice(1) : folded;
    if (fresh === "") return;
    if (this.#mark !== "") {
      column.pieces.push(this.#mark);
      this.#mark = "";
    }
    column.pieces.push(fresh);
    column.at_space = fresh.endsWith(" ");
  }

  lineBreak(): void {
    if (this.#fences > 0) this.#fence.push("\n");
    else this.endLine();
  }

  /** Ends the line if one has begun. */
  endLine(): void {
    if (this.#fences > 0) return;
    const column = this.#column;
    const line = column.pieces.join("").trimEnd();
    column.pieces = [];
    column.at_space = true;
    column.line_number += 1;
    if (line !== "") column.lines.push(this.#indent() + line);
  }

  /** Ends the line and leaves a blank one, once. */
  endBlock(): void {
    this.endLine();
    const { lines } = this.#column;
    // Lists and their items are one block: a blank line inside would tear them apart.
    if (this.#fences === 0 && lines.length > 0 && lines.at(-1) !== "" && this.#lists.length === 0) lines.push("");
  }

  /** A line across the page. */
  rule(): void {
    this.endBlock();
    this.write("---");
    this.endBlock();
  }

  /** A picture's alternative text; one without is decoration. */
  picture(alternative: string): void {
    if (alternative !== "") this.write(`[image: ${alternative}]`);
  }

  openHeading(level: number): void {
    this.endBlock();
    this.#mark = `${"#".repeat(level)} `;
  }

  openQuote(): void {
    this.#quotes += 1;
  }

  closeQuote(): void {
    this.#quotes = Math.max(0, this.#quotes - 1);
  }

  /** `first` numbers the items; null gives them bullets. */
  openList(first: number | null): void {
    this.#lists.push({ number: first });
  }

  closeList(): void {
    this.#lists.pop();
    this.#mark = "";
    this.endBlock();
  }

  openItem(): void {
    this.endLine();
    const list = this.#lists.at(-1);
    if (list === undefined || list.number === null) {
      this.#mark = "- ";
      return;
    }
    this.#mark = `${list.number}. `;
    list.number += 1;
  }

  openLink(target: string | null): void {
    const column = this.#column;
    this.#links.push({ target, column, line_number: column.line_number, first_piece: column.pieces.length });
  }

  /** Brackets the link's words; a link around whole blocks gets its target after them. */
  closeLink(): void {
    const link = this.#links.pop();
    if (link === undefined || link.target === null || this.#fences > 0) return;
    const column = this.#column;
    if (link.column !== column || link.line_number !== column.line_number) {
      this.write(` (${link.target})`);
      return;
    }
    const words = column.pieces.splice(link.first_piece).join("");
    if (words.trim() === "") {
      column.pieces.push(words);
      return;
    }
    const [, before = "", label = "", after = ""] = /^(\s*(?:(?:-|\d+\.|#{1,6}|:) )?)(.*?)(\s*)$/s.exec(words) ?? [];
    column.pieces.push(`${before}[${label}](${link.target})${after}`);
  }

  openCode(language: string): void {
    if (this.#fences > 0) this.#fence_language ||= language;
    else this.write("`");
  }

  closeCode(): void {
    if (this.#fences === 0) this.write("`");
  }

  openFence(language: string): void {
    if (this.#fences === 0) {
      this.endBlock();
      this.#fence = [];
      this.#fence_language = language;
    }
    this.#fences += 1;
  }

  /** Code keeps its white space, between fences longer than any in it. */
  closeFence(): void {
    this.#fences -= 1;
    if (this.#fences > 0) return;
    const code = this.#fence.join("").replace(/^\n/, "").trimEnd();
    this.#fence = [];
    this.#mark = "";
    if (code === "") return;
    const ticks = code.match(/`{3,}/g) ?? [];
    const fence = "`".repeat(ticks.reduce((length, run) => Math.max(length, run.length + 1), 3));
    const indent = this.#indent();
    for (const line of [fence + this.#fence_language, ...code.split("\n"), fence]) {
      this.#column.lines.push(indent + line);
    }
    this.endBlock();
  }

  openTable(): void {
    this.#tables.push({ row: null, headed: false, in_cell: false });
  }

  closeTable(): void {
    this.closeCell();
    this.closeRow();
    this.#tables.pop();
    this.endBlock();
  }

  openRow(): void {
    this.closeRow();
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    this.endLine();
    table.row = { cells: [], has_head: false };
  }

  openCell(is_head: boolean): void {
    this.closeCell();
    const table = this.#tables.at(-1);
    if (table === undefined || table.row === null || this.#columns.length >= CELL_LEVELS_MAX) {
      this.endLine();
      return;
    }
    table.row.has_head ||= is_head;
    table.in_cell = true;
    this.#columns.push(this.#column);
    this.#column = newColumn();
  }

  closeCell(): void {
    const table = this.#tables.at(-1);
    if (table === undefined || !table.in_cell || table.row === null || this.#fences > 0) return;
    this.endLine();
    table.row.cells.push(this.#column.lines.join("\n").trim());
    table.in_cell = false;
    this.#column = this.#columns.pop() ?? newColumn();
  }

  closeRow(): void {
    this.closeCell();
    const table = this.#tables.at(-1);
    if (table === undefined || table.row === null || table.in_cell) return;
    const { cells, has_head } = table.row;
    table.row = null;
    if (cells.every((cell) => cell === "")) return;
    const { lines } = this.#column;
    if (cells.length === 1 || cells.some((cell) => cell.length > CELL_CHARACTERS_MAX || cell.includes("\n\n"))) {
      for (const cell of cells.filter((cell) => cell !== "")) lines.push(...cell.split("\n"));
      return;
    }
    lines.push(`| ${cells.map((cell) => cell.replaceAll("\n", " ").replaceAll("|", "\\|")).join(" | ")} |`);
    if (has_head && !table.headed) lines.push(`|${" --- |".repeat(cells.length)}`);
    table.headed = true;
  }

  /** All text, without blank lines at its ends. */
  finish(): string {
    while (this.#tables.length > 0) this.closeTable();
    this.endBlock();
    return this.#column.lines.join("\n").trim();
  }

  #indent(): string {
    const in_lists = this.#columns.length > 0 ? 0 : Math.min(Math.max(this.#lists.length - 1, 0), INDENT_LEVELS_MAX);
    return "> ".repeat(Math.min(this.#quotes, INDENT_LEVELS_MAX)) + "  ".repeat(in_lists);
  }
}

function newColumn(): Column {
  return { lines: [], pieces: [], at_space: true, line_number: 0 };
}
