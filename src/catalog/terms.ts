/**
 * From text to the terms that searching compares: words in lower case, cut to their stems. Names come apart at case,
 * digits and separators (`searchRepos2`, `search_repos-2`). Scripts without spaces give pairs of characters.
 */
export function termsOf(text: string): string[] {
  return wordsOf(text).map(stem);
}

/**
 * The same for what a person or model asks. An address or a path says that there is one, and of what kind: its own
 * words would only lead astray.
 */
export function queryTermsOf(text: string): string[] {
  const plain = text.replace(ADDRESS, " url ").replace(PATH, (path) => ` file path ${extensionOf(path)} `);
  const terms = termsOf(plain);
  const telling = terms.filter((term) => !FUNCTION_WORDS.has(term));
  // Of a query of such words alone they are all that there is.
  return telling.length === 0 ? terms : telling;
}

const ADDRESS = /\bhttps?:\/\/\S+/gi;
const PATH = /(?<=^|\s)(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.\-/\\]+/g;

function extensionOf(path: string): string {
  return /\.([a-z0-9]{1,5})$/i.exec(path)?.[1] ?? "";
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A short run of such characters is mostly a word by itself. */
const UNSPACED_WORD_LENGTH_MAX = 4;

function wordsOf(text: string): string[] {
  const spaced = text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const runs = spaced.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
  return runs.flatMap((run) => (UNSPACED.test(run) ? pairsOf(run) : [run]));
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  const pairs = characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
  return characters.length <= UNSPACED_WORD_LENGTH_MAX && pairs.length !== 1 ? [...pairs, run] : pairs;
}

/** The first that fits is taken off, so longer ones come first. */
const SUFFIXES = [
  "ization",
  "isation",
  "ation",
  "ition",
  "ional",
  "ment",
  "ing",
  "ion",
  "ed",
  "er",
  "or",
  "al",
  "ly",
  "ive",
  "able",
];

/** What is left of a word after its suffix. */
const STEM_LENGTH_MIN = 4;

/** A light stem of an English word: alike for the forms of one word, and not made for reading. */
export function stem(word: string): string {
  if (word.length < STEM_LENGTH_MIN || !/^[a-z]+$/.test(word)) return word;
  const singular = singularOf(word);
  const suffix = SUFFIXES.find((one) => singular.endsWith(one) && singular.length - one.length >= STEM_LENGTH_MIN);
  return suffix === undefined ? ending(singular) : ending(singular.slice(0, -suffix.length));
}

function singularOf(word: string): string {
  if (word.endsWith("ies") && word.length > STEM_LENGTH_MIN) return `${word.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /(?:ss|us|is)$/.test(word) || !word.endsWith("s") ? word : word.slice(0, -1);
}

/** `planning` and `plan`, `create` and `creation`, `query` and `queries` come together. */
function ending(word: string): string {
  const single = /([bdfgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
  const without_e = single.endsWith("e") && single.length > STEM_LENGTH_MIN ? single.slice(0, -1) : single;
  return without_e.endsWith("y") ? `${without_e.slice(0, -1)}i` : without_e;
}

/** Words of English that join others and name nothing. A tool's text keeps them; of a query they say nothing. */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  [
    "a an the this that these those it its they them their there then than",
    "of to for from in on at by with into over about via using and or but not if as both each any all other such",
    "is are be do does can could will would should may",
    "what which who how when where",
    "i me my we us our you your he she his her",
  ]
    .join(" ")
    .split(" ")
    .map(stem),
);
