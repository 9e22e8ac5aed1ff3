import { stem } from "./terms.ts";

/**
 * Words that stand for one another wherever software is spoken of: what is done to things, and what things are kept in.
 * No trade has words of its own here, and no product or tool has: what is served better by them would only be what was
 * thought of.
 */
const GROUPS = [
  "create make generate build new",
  "delete remove erase drop",
  "update edit modify change",
  "get fetch retrieve read load",
  "find search lookup query locate",
  "list enumerate",
  "save write store",
  "send post submit",
  "copy duplicate clone",
  "rename move",
  "convert transform",
  "calculate compute",
  "start launch run execute",
  "insert add append",
  "show display view",
  "check verify validate",
  "describe explain",
  "compare diff",
  "directory folder dir",
  "file document",
  "image picture",
  "repository repo",
  "user account",
];

const NONE: readonly string[] = [];

const BY_STEM = synonymsByStem();

function synonymsByStem(): ReadonlyMap<string, readonly string[]> {
  const by_stem = new Map<string, string[]>();
  for (const group of GROUPS) {
    const stems = [...new Set(group.split(" ").map(stem))];
    for (const one of stems) {
      const others = stems.filter((other) => other !== one);
      by_stem.set(one, [...new Set([...(by_stem.get(one) ?? []), ...others])]);
    }
  }
  return by_stem;
}

/** Stems of words that may be meant by this one; it is itself not among them. */
export function synonymsOf(term: string): readonly string[] {
  return BY_STEM.get(term) ?? NONE;
}
