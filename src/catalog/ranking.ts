import type { ExternalTool } from "../contracts/external_tools.ts";
import { isJsonObject, type JsonValue } from "../protocol/json.ts";
import { synonymsOf } from "./synonyms.ts";
import { queryTermsOf, termsOf } from "./terms.ts";

export interface RankedName {
  name: string;
  score: number;
}

/** What a tool says of itself, by where it says it: what a word there counts, and how long such a text mostly is. */
const FIELDS = {
  name: { weight: 3, usual_length: 3, length_share: 0.3 },
  server: { weight: 2, usual_length: 2, length_share: 0.3 },
  about: { weight: 1, usual_length: 25, length_share: 0.75 },
  parameter_names: { weight: 0.5, usual_length: 5, length_share: 0.75 },
  parameter_texts: { weight: 0.5, usual_length: 30, length_share: 0.75 },
} as const;
type Field = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as Field[];

/** How soon more of the same word stops to count, as in Robertson and Zaragoza's BM25F. */
const SATURATION = 1.2;

/** What a synonym counts of the word itself. */
const SYNONYM_WEIGHT = 0.3;

/** What the words count that a tool's whole server is about, beside its own. */
const SERVER_SHARE = 0.5;

/** How much more a tool is worth whose whole name is in the query, and how well a synonym stands for a part of it. */
const NAME_BONUS = 0.3;
const NAME_SYNONYM = 0.7;

/**
 * A tool named almost like a better one of its server gives way a little, in shares of the best score: after Carbonell
 * and Goldstein's maximal marginal relevance, for the first places among the best.
 */
const LIKENESS_COST = 0.1;
const VARIED_PLACES = 10;
const VARIED_AMONG = 40;

/** Terms of a query that are looked at; a longer one is a text and no query. */
const QUERY_TERMS_MAX = 64;

/** Characters of a query that are looked at. */
const QUERY_LENGTH_MAX = 2000;

/** Terms of one field; a longer text says the same again. */
const FIELD_TERMS_MAX = 400;

/** A tool that reaches less than this share of the best one's score only shares a common word with the query. */
const MATCH_SHARE_MIN = 0.1;

/** Nested parameters beyond it say little of what a tool is for. */
const SCHEMA_DEPTH_MAX = 4;

/** Where a term occurs in one server's tools: indices, and how much it counts there. */
interface Postings {
  tools: number[];
  counts: number[];
  /** Of each tool's name, the share that the term is; 0 where the name has it not. */
  name_shares: number[];
}

/** One server's part of the index: replaced as a whole, so that a change costs what that server has. */
interface Segment {
  names: string[];
  name_terms: ReadonlySet<string>[];
  postings: ReadonlyMap<string, Postings>;
}

/** One tool that matches, and where it stands. */
interface Hit {
  segment: Segment;
  index: number;
  score: number;
}

/**
 * Finds tools by words: BM25 over fields of different weight. Lengths are compared with usual ones rather than with the
 * average of what is there, so that a change of one server moves no other.
 */
export class ToolIndex {
  readonly #segments = new Map<string, Segment>();
  /** In how many tools, and in how many servers, each term occurs. */
  readonly #frequency = new Map<string, number>();
  readonly #server_frequency = new Map<string, number>();
  #count = 0;

  /** Replaces a server's tools; an empty list takes it out. */
  setServer(server: string, tools: readonly ExternalTool[]): void {
    const before = this.#segments.get(server);
    if (before !== undefined) this.#countIn(before, -1);
    if (tools.length === 0) {
      this.#segments.delete(server);
      return;
    }
    const segment = segmentOf(server, tools);
    this.#segments.set(server, segment);
    this.#countIn(segment, 1);
  }

  #countIn({ names, postings }: Segment, sign: 1 | -1): void {
    this.#count += sign * names.length;
    for (const [term, { tools }] of postings) {
      add(this.#frequency, term, sign * tools.length);
      add(this.#server_frequency, term, sign);
    }
  }

  /** What matches, best first; ties in the order of servers and of their lists. */
  search(query: string): RankedName[] {
    const groups = this.#groupsOf(query);
    const hits: Hit[] = [];
    for (const segment of this.#segments.values()) {
      for (const [index, score] of scoresIn(segment, groups).entries()) {
        if (score > 0) hits.push({ segment, index, score });
      }
    }
    const best = hits.reduce((most, { score }) => Math.max(most, score), 0);
    const ranked = hits
      .filter(({ score }) => score >= best * MATCH_SHARE_MIN)
      .toSorted((one, other) => other.score - one.score);
    return varied(ranked).map(({ segment, index, score }) => ({ name: segment.names[index] ?? "", score }));
  }

  /** Each word of the query with those that may stand for it. */
  #groupsOf(query: string): WeightedTerm[][] {
    const terms = [...new Set(queryTermsOf(query.slice(0, QUERY_LENGTH_MAX)))].slice(0, QUERY_TERMS_MAX);
    return terms
      .map((term) => [this.#weighted(term, false), ...synonymsOf(term).map((other) => this.#weighted(other, true))])
      .map((group) => group.filter(({ weight }) => weight > 0));
  }

  #weighted(term: string, is_synonym: boolean): WeightedTerm {
    const share = is_synonym ? SYNONYM_WEIGHT : 1;
    return {
      term,
      weight: share * rarity(this.#frequency.get(term), this.#count),
      server_weight: share * rarity(this.#server_frequency.get(term), this.#segments.size),
      name_match: is_synonym ? NAME_SYNONYM : 1,
    };
  }
}

function add(counts: Map<string, number>, term: string, change: number): void {
  const count = (counts.get(term) ?? 0) + change;
  if (count > 0) counts.set(term, count);
  else counts.delete(term);
}

/** The rarer a term, the more it says; 0 for one that is nowhere. */
function rarity(frequency: number | undefined, count: number): number {
  if (frequency === undefined) return 0;
  return Math.log((count - frequency + 0.5) / (frequency + 0.5) + 1);
}

/** The same hits; near the top, those come later that are named like better ones of their server. */
function varied(ranked: readonly Hit[]): readonly Hit[] {
  const pool = ranked.slice(0, VARIED_AMONG).map((hit) => ({ hit, likeness: 0 }));
  const unit = ranked[0]?.score ?? 1;
  const chosen: Hit[] = [];
  const worth = ({ hit, likeness }: (typeof pool)[number]): number => hit.score / unit - LIKENESS_COST * likeness;
  while (pool.length > 0 && chosen.length < VARIED_PLACES) {
    const best = pool.reduce((most, one) => (worth(one) > worth(most) ? one : most));
    pool.splice(pool.indexOf(best), 1);
    chosen.push(best.hit);
    for (const one of pool) one.likeness = Math.max(one.likeness, likenessOf(one.hit, best.hit));
  }
  return [...chosen, ...pool.map(({ hit }) => hit), ...ranked.slice(VARIED_AMONG)];
}

/** The share of their names' words that two tools of one server have in common. */
function likenessOf(one: Hit, other: Hit): number {
  if (one.segment !== other.segment) return 0;
  const [left, right] = [one, other].map(({ segment, index }) => segment.name_terms[index] ?? new Set<string>());
  if (left === undefined || right === undefined) return 0;
  const common = [...left].filter((term) => right.has(term)).length;
  return common / Math.max(1, left.size + right.size - common);
}

interface WeightedTerm {
  term: string;
  weight: number;
  /** The same among servers instead of tools. */
  server_weight: number;
  name_match: number;
}

/**
 * Scores of a segment's tools. A tool gets a word's points once, by the best of its group; then more for a name that is
 * in the query; then a share of what its server gets as a whole.
 */
function scoresIn({ names, postings }: Segment, groups: readonly WeightedTerm[][]): Float64Array {
  const scores = new Float64Array(names.length);
  const named = new Float64Array(names.length);
  const best = new Float64Array(names.length);
  const best_named = new Float64Array(names.length);
  let server_score = 0;
  for (const group of groups) {
    let server_points = 0;
    for (const { term, weight, server_weight, name_match } of group) {
      const found = postings.get(term);
      if (found === undefined) continue;
      let in_server = 0;
      for (const [index, tool] of found.tools.entries()) {
        const count = found.counts[index] ?? 0;
        in_server += Math.min(count, 1);
        best[tool] = Math.max(best[tool] ?? 0, weight * saturated(count, SATURATION));
        best_named[tool] = Math.max(best_named[tool] ?? 0, name_match * (found.name_shares[index] ?? 0));
      }
      const points = server_weight * saturated(in_server, SATURATION * Math.sqrt(names.length));
      server_points = Math.max(server_points, points);
    }
    if (server_points === 0) continue;
    server_score += server_points;
    for (let tool = 0; tool < names.length; tool += 1) {
      scores[tool] = (scores[tool] ?? 0) + (best[tool] ?? 0);
      named[tool] = (named[tool] ?? 0) + (best_named[tool] ?? 0);
    }
    best.fill(0);
    best_named.fill(0);
  }
  return scores.map((score, tool) =>
    score === 0 ? 0 : score * (1 + NAME_BONUS * Math.min(1, named[tool] ?? 0)) + SERVER_SHARE * server_score,
  );
}

function saturated(count: number, half_at: number): number {
  return (count * (SATURATION + 1)) / (count + half_at);
}

function segmentOf(server: string, tools: readonly ExternalTool[]): Segment {
  const postings = new Map<string, Postings>();
  const server_terms = termsOf(server);
  const name_terms = tools.map((tool) => new Set(termsOf(tool.own_name)));
  for (const [index, tool] of tools.entries()) {
    const named = name_terms[index] ?? new Set();
    for (const [term, count] of countsOf(tool, server_terms)) {
      const known = postings.get(term) ?? { tools: [], counts: [], name_shares: [] };
      known.tools.push(index);
      known.counts.push(count);
      known.name_shares.push(named.has(term) ? 1 / named.size : 0);
      postings.set(term, known);
    }
  }
  return { names: tools.map((tool) => tool.definition.name), name_terms, postings };
}

/** How much each term counts in one tool, over all its fields. */
function countsOf({ own_name, about, definition }: ExternalTool, server_terms: readonly string[]): Map<string, number> {
  const parameters = parametersOf(definition.parameters, 0);
  const terms: Record<Field, readonly string[]> = {
    name: termsOf(own_name),
    server: server_terms,
    about: termsOf(about),
    parameter_names: parameters.flatMap(({ name }) => termsOf(name)),
    parameter_texts: parameters.flatMap(({ text }) => termsOf(text)),
  };
  const counts = new Map<string, number>();
  for (const field of FIELD_NAMES) {
    const { weight, usual_length, length_share } = FIELDS[field];
    const kept = terms[field].slice(0, FIELD_TERMS_MAX);
    const length = 1 - length_share + (length_share * kept.length) / usual_length;
    for (const term of kept) counts.set(term, (counts.get(term) ?? 0) + weight / length);
  }
  return counts;
}

function parametersOf(schema: JsonValue | undefined, depth: number): { name: string; text: string }[] {
  if (!isJsonObject(schema) || depth > SCHEMA_DEPTH_MAX) return [];
  const own = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  return [
    ...own.flatMap(([name, property]) => {
      const text = isJsonObject(property) && typeof property["description"] === "string" ? property["description"] : "";
      return [{ name, text }, ...parametersOf(property, depth + 1)];
    }),
    ...parametersOf(schema["items"], depth + 1),
  ];
}
