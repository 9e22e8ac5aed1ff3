import { stem } from "./terms.ts";

/**
 * Words that stand for one another where software is spoken of: what is done to things, and common things themselves.
 * General vocabulary only; names of products or tools do not belong here.
 */
const GROUPS = [
  "create make generate build produce compose new",
  "delete remove erase drop destroy",
  "update edit modify change alter revise",
  "get fetch retrieve obtain read load",
  "find search lookup query locate discover",
  "list enumerate",
  "save write store export",
  "send post submit",
  "copy duplicate clone",
  "convert transform translate",
  "calculate compute",
  "start launch run execute",
  "insert add append attach",
  "draw plot chart diagram graph",
  "directory folder dir",
  "file document doc",
  "image picture photo figure",
  "presentation slide ppt pptx powerpoint deck",
  "spreadsheet excel xlsx workbook",
  "webpage website site web page url",
  "user account profile",
  "message mail email",
  "calendar date schedule",
  "news headline article story",
  "trending popular hot rank top",
  "price cost quote",
  "weather forecast",
  "stock share ticker equity",
  "route direction navigation",
  "location place address",
  "music song audio",
  "video movie film",
  "paper publication",
  "finance financial",
  "current latest recent now today",
  "repository repo",
  "show display view render print",
  "check verify validate inspect test",
  "describe explain detail info information",
  "compare diff difference",
  "count number total amount",
  "summary summarize abstract overview",
  "extract parse",
  "rename move transfer",
  "book reserve reservation",
  "buy purchase order",
  "hotel accommodation lodging",
  "train railway rail",
  "restaurant dining food meal",
  "recipe cooking dish",
  "coordinate latitude longitude geocode",
  "time clock",
  "package library module dependency",
  "issue bug ticket",
  "commit revision",
  "log history",
  "company business organization",
  "currency money",
  "crypto cryptocurrency coin",
  "game match",
  "note memo",
  "task todo",
  "research study investigate",
  "command shell terminal",
  "screenshot capture",
  "transcript subtitle caption",
  "ranking leaderboard standings",
  "comment reply",
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
