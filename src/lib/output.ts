/**
 * Lets a process outlive whoever reads its output. A log that nobody reads any more is lost, and that is all: without
 * this the failed write would be an exception, whose report is written to the same place, and so on for ever.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}
