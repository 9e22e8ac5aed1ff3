/** Columns a phone in landscape and a narrow desktop window show without wrapping. */
export const TABLE_WIDTH_MAX = 80;
/** A table of more columns than this is data, not writing. */
const COLUMNS_MAX = 40;

/** Rows of cells as text in aligned columns, the first row set off by a rule; columns of numbers can be flush right. */
export function alignTable(
  rows: readonly (readonly string[])[],
  flush_right: readonly boolean[],
): { text: string; width: number } {
  const columns = Math.min(COLUMNS_MAX, rows[0]?.length ?? 0);
  const cells = rows.map((row) => Array.from({ length: columns }, (_unused, column) => plainCell(row[column] ?? "")));
  const widths = Array.from({ length: columns }, (_unused, column) =>
    Math.max(1, ...cells.map((row) => columnsOf(row[column] ?? ""))),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 1, flush_right[column] === true))
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  const width = widths.reduce((sum, each) => sum + each + 2, -2);
  return { text: [lines[0] ?? "", rule, ...lines.slice(1)].join("\n"), width };
}

/** Inside a code block Markdown would show as it is written, so the marks of emphasis and code go. */
function plainCell(cell: string): string {
  return cell
    .replace(/<br\s*\/?>/gi, " ")
    .replace(/(\*\*|__|`)(.+?)\1/g, "$2")
    .replaceAll("```", "'''");
}

function pad(cell: string, width: number, to_the_right: boolean): string {
  const space = " ".repeat(Math.max(0, width - columnsOf(cell)));
  return to_the_right ? space + cell : cell + space;
}

const WIDE = new RegExp(
  [
    "[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f",
    "\\uff00-\\uff60\\uffe0-\\uffe6\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]",
  ].join(""),
  "u",
);
const ZERO = /^\p{Mn}$|^\p{Cf}$/u;

/** Columns of a fixed-width font. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}
