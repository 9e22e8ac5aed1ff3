import { createHash } from "node:crypto";
import { cleanText } from "./sql.ts";

/** Characters of a query that count; what a person or a model asks for is in its beginning. */
const QUERY_LENGTH_MAX = 512;

/** Words of a query that count: each one costs a walk through the index. */
const QUERY_WORDS_MAX = 12;

/** Characters of a text that are indexed; a match deeper in a file that was read is of little use. */
const INDEXED_LENGTH_MAX = 32_768;

/** How both indexes split text into words; the snippets are cut with the same rule. */
export const TOKENIZER = "porter unicode61 remove_diacritics 2";

/** Stands between letters of scripts that write no spaces. The tokenizer splits there and people do not see it. */
const SEPARATOR = "\u200b";

/** Scripts without spaces between words, and Hangul, whose particles are glued on. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]\p{M}*/gu;

const HAS_WORD = /[\p{L}\p{N}]/u;

/** Marks of wildcards elsewhere. The index knows no punctuation, so words with these are looked at letter by letter. */
const WILDCARD = /[%_*?\\]/;

/** What stands around a word in a sentence. */
const AROUND = /^[\s"'“”‘’([{<]+|[\s"'“”‘’)\]}>.,;:!?]+$/gu;

/** A query, taken apart. */
export interface SearchQuery {
  /** As asked, without what stands around them; each at least one letter or digit. */
  words: string[];
  /** The whole query in lower case, for looking it up letter by letter. */
  literal: string;
}

/** Takes any text apart; what is too long is left out. */
export function parseQuery(text: string): SearchQuery {
  const query = cleanText(text.slice(0, QUERY_LENGTH_MAX)).normalize("NFC");
  const words = query
    .split(/\s+/u)
    .map((word) => word.replace(AROUND, ""))
    .filter((word) => HAS_WORD.test(word))
    .slice(0, QUERY_WORDS_MAX);
  return { words: [...new Set(words)], literal: query.trim().toLowerCase() };
}

/** True for a word that the index alone cannot tell from similar ones. */
export function isLiteralWord(word: string): boolean {
  return WILDCARD.test(word);
}

/** The words as an FTS5 expression: each a phrase of its own, so that no operator or quote of theirs counts. */
export function phrases(words: readonly string[], joiner: "and" | "or"): string {
  return words.map((word) => `"${separated(word).replaceAll('"', " ")}"`).join(joiner === "and" ? " AND " : " OR ");
}

/** A text as it goes into an index. */
export function searchText(text: string): string {
  return separated(cleanText(text.slice(0, INDEXED_LENGTH_MAX)).normalize("NFC"));
}

/** A cut of an indexed text as people read it: in one line. */
export function readableSnippet(snippet: string): string {
  return snippet.replaceAll(SEPARATOR, "").replaceAll("****", "").replace(/\s+/gu, " ").trim();
}

/**
 * What a row belongs to, as one word of the index, so that a search is narrowed inside the index. It ends in a digit,
 * since the stemmer leaves such words alone.
 */
export function ownerTerm(kind: "user" | "workspace" | "global" | "workstream", id: string): string {
  return `${kind}${createHash("sha256").update(id).digest("hex").slice(0, 24)}0`;
}

function separated(text: string): string {
  return text.replace(UNSPACED, `$&${SEPARATOR}`);
}
