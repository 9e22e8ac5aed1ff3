/** The middle one of sorted numbers. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the share `q` of the numbers lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** A figure of turnstone beside its floor, both from the same run. */
export interface Row {
  name: string;
  unit: string;
  floor: number;
  turnstone: number;
  /** The ratio that must not be exceeded; null where the issue of measuring is only to know. */
  bar: number | null;
}

/** The table as text; answers whether each bar was met. */
export function printRows(rows: readonly Row[]): boolean {
  const digits = (value: number): string =>
    value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  const lines = rows.map((row) => {
    const ratio = row.turnstone / row.floor;
    const verdict = row.bar === null ? "" : ratio <= row.bar ? "ok" : "OVER";
    return [
      row.name,
      digits(row.floor),
      digits(row.turnstone),
      row.unit,
      `${ratio.toFixed(2)}x`,
      row.bar === null ? "" : `<= ${row.bar}x`,
      verdict,
    ];
  });
  const all = [["what", "floor", "turnstone", "", "ratio", "bar", ""], ...lines];
  const widths = all[0]?.map((_cell, column) => Math.max(...all.map((line) => (line[column] ?? "").length))) ?? [];
  for (const line of all) {
    process.stdout.write(
      `${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  ")}\n`,
    );
  }
  return rows.every((row) => row.bar === null || row.turnstone / row.floor <= row.bar);
}
