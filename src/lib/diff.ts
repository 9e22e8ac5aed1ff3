/** Milliseconds: a worse diff soon is better for a card than a perfect one after seconds. */
const DIFF_TIMEOUT_MS = 200;

/** Lines that may differ; beyond it a diff says less than the new text itself. */
const EDIT_LENGTH_MAX = 4000;

/**
 * A unified diff without file headers; `first_line` is the number of the texts' first line in the file. Null when it
 * would take too long; empty when nothing differs.
 */
export async function unifiedDiff(before: string, after: string, first_line = 1): Promise<string | null> {
  const { formatPatch, OMIT_HEADERS, structuredPatch } = await import("diff");
  const options = { context: 3, timeout: DIFF_TIMEOUT_MS, maxEditLength: EDIT_LENGTH_MAX };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  if (patch === undefined) return null;
  const shift = first_line - 1;
  const hunks = patch.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + shift,
    newStart: hunk.newStart + shift,
  }));
  return hunks.length === 0 ? "" : formatPatch({ ...patch, hunks }, OMIT_HEADERS);
}
