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
  server: { weight: 1, usual_length: 2, length_share: 0.3 },
  about: { weight: 1, usual_length: 25, length_share: 0.75 },
  parameter_names: { weight: 0.5, usual_length: 5, length_share: 0.75 },
  parameter_texts: { weight: 0.3, usual_length: 30, length_share: 0.75 },
} as const;
type Field = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as Field[];

/** How soon more of the same word stops to count, as in Robertson and Zaragoza's BM25F. */
const SATURATION = 1.2;

/** What a synonym counts of the word itself. */
const SYNONYM_WEIGHT = 0.3;

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
}

/** One server's part of the index: replaced as a whole, so that a change costs what that server has. */
interface Segment {
  names: string[];
  postings: ReadonlyMap<string, Postings>;
}

/**
 * Finds tools by words: BM25 over fields of different weight. Lengths are compared with usual ones rather than with the
 * average of what is there, so that a change of one server moves no other.
 */
export class ToolIndex {
  readonly #segments = new Map<string, Segment>();
  /** In how many tools each term occurs. */
  readonly #frequency = new Map<string, number>();
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
      const count = (this.#frequency.get(term) ?? 0) + sign * tools.length;
      if (count > 0) this.#frequency.set(term, count);
      else this.#frequency.delete(term);
    }
  }

  /** What matches, best first; ties in the order of servers and of their lists. */
  search(query: string): RankedName[] {
    const groups = this.#groupsOf(query);
    const hits: RankedName[] = [];
    for (const segment of this.#segments.values()) {
      for (const [index, score] of scoresIn(segment, groups).entries()) {
        if (score > 0) hits.push({ name: segment.names[index] ?? "", score });
      }
    }
    const best = hits.reduce((most, { score }) => Math.max(most, score), 0);
    return hits
      .filter(({ score }) => score >= best * MATCH_SHARE_MIN)
      .toSorted((one, other) => other.score - one.score);
  }

  /** Each word of the query with those that may stand for it. */
  #groupsOf(query: string): WeightedTerm[][] {
    const terms = [...new Set(queryTermsOf(query.slice(0, QUERY_LENGTH_MAX)))].slice(0, QUERY_TERMS_MAX);
    return terms
      .map((term) => [
        { term, weight: this.#rarity(term) },
        ...synonymsOf(term).map((other) => ({ term: other, weight: SYNONYM_WEIGHT * this.#rarity(other) })),
      ])
      .map((group) => group.filter(({ weight }) => weight > 0));
  }

  /** The rarer a term, the more it says; 0 for one that is nowhere. */
  #rarity(term: string): number {
    const frequency = this.#frequency.get(term);
    if (frequency === undefined) return 0;
    return Math.log((this.#count - frequency + 0.5) / (frequency + 0.5) + 1);
  }
}

interface WeightedTerm {
  term: string;
  weight: number;
}

/** Scores of a segment's tools. A tool gets a word's points once, by the best of its group. */
function scoresIn({ names, postings }: Segment, groups: readonly WeightedTerm[][]): Float64Array {
  const scores = new Float64Array(names.length);
  const best = new Float64Array(names.length);
  for (const group of groups) {
    let touched = false;
    for (const { term, weight } of group) {
      const found = postings.get(term);
      if (found === undefined) continue;
      touched = true;
      for (const [index, tool] of found.tools.entries()) {
        const count = found.counts[index] ?? 0;
        const points = (weight * count * (SATURATION + 1)) / (count + SATURATION);
        if (points > (best[tool] ?? 0)) best[tool] = points;
      }
    }
    if (!touched) continue;
    for (const [tool, points] of best.entries()) scores[tool] = (scores[tool] ?? 0) + points;
    best.fill(0);
  }
  return scores;
}

function segmentOf(server: string, tools: readonly ExternalTool[]): Segment {
  const postings = new Map<string, Postings>();
  const server_terms = termsOf(server);
  for (const [index, tool] of tools.entries()) {
    for (const [term, count] of countsOf(tool, server_terms)) {
      const known = postings.get(term) ?? { tools: [], counts: [] };
      known.tools.push(index);
      known.counts.push(count);
      postings.set(term, known);
    }
  }
  return { names: tools.map((tool) => tool.definition.name), postings };
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
