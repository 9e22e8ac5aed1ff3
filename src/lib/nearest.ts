/** Names longer than this are not compared: a model that writes them is not near to any. */
const COMPARED_LENGTH_MAX = 80;

/** Up to `count` of the names that are nearest to what was asked for, best first; none that is far off. */
export function nearestNames(asked: string, names: readonly string[], count = 3): string[] {
  const wanted = asked.trim().toLowerCase().slice(0, COMPARED_LENGTH_MAX);
  return names
    .map((name) => ({ name, distance: editDistance(wanted, name.toLowerCase().slice(0, COMPARED_LENGTH_MAX)) }))
    .filter(({ name, distance }) => distance <= Math.max(2, name.length / 2))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, count)
    .map(({ name }) => name);
}

/** Levenshtein's distance: single-character insertions, deletions and replacements. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_value, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
