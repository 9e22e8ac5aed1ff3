/** A Markdown text in the pieces that are shown differently. Joined with line breaks they are the text. */
export type Segment =
  | { kind: "prose"; text: string }
  | { kind: "code"; language: string; code: string; closed: boolean }
  | { kind: "table"; text: string; rows: string[][]; flush_right: boolean[] };

const FENCE_OPEN = /^ {0,3}(`{3,}|~{3,})\s*([^`\n]*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** Tells prose, code blocks and tables apart. */
export function segmentsOf(text: string): Segment[] {
  const lines = text.split("\n");
  const segments: Segment[] = [];
  let prose: string[] = [];
  const endProse = (): void => {
    if (prose.length > 0) segments.push({ kind: "prose", text: prose.join("\n") });
    prose = [];
  };
  let index = 0;
  while (index < lines.length) {
    const line = lines[index] ?? "";
    const fence = FENCE_OPEN.exec(line);
    if (fence !== null) {
      endProse();
      const code = readCode(lines, index, fence[1] ?? "", fence[2] ?? "");
      segments.push(code.segment);
      index = code.next;
    } else if (line.includes("|") && isTableRule(lines[index + 1])) {
      endProse();
      const end = tableEnd(lines, index + 2);
      const table = lines.slice(index, end);
      segments.push({
        kind: "table",
        text: table.join("\n"),
        rows: [line, ...lines.slice(index + 2, end)].map(cellsOf),
        flush_right: cellsOf(lines[index + 1] ?? "").map((rule) => /^-+:$/.test(rule)),
      });
      index = end;
    } else {
      prose.push(line);
      index += 1;
    }
  }
  endProse();
  return segments;
}

function readCode(
  lines: readonly string[],
  start: number,
  marker: string,
  info: string,
): { segment: Segment; next: number } {
  const language = info.trim().split(/\s+/)[0] ?? "";
  const closes = new RegExp(`^ {0,3}\\${marker[0] ?? "`"}{${marker.length},}\\s*$`);
  let end = start + 1;
  while (end < lines.length && !closes.test(lines[end] ?? "")) end += 1;
  const segment: Segment = {
    kind: "code",
    language,
    code: lines.slice(start + 1, end).join("\n"),
    closed: end < lines.length,
  };
  return { segment, next: end + 1 };
}

function isTableRule(line: string | undefined): boolean {
  return line !== undefined && line.length < 2000 && line.includes("-") && line.includes("|") && TABLE_RULE.test(line);
}

function tableEnd(lines: readonly string[], start: number): number {
  let end = start;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end += 1;
  return end;
}

/** The cells of a row; `\|` is a bar inside a cell. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
