import type { JsonObject } from "../protocol/json.ts";

/** Sources that people are shown for one answer. */
const CITATIONS_MAX = 20;

/** Sources that a provider's own web search named, each address once. */
export class Citations {
  readonly #titles = new Map<string, string>();

  add(citation: JsonObject): void {
    const { url, title } = citation;
    if (typeof url !== "string" || this.#titles.has(url) || this.#titles.size >= CITATIONS_MAX) return;
    this.#titles.set(url, typeof title === "string" && title !== "" ? title.replace(/\s+/g, " ") : url);
  }

  /** A list for people; null when there is none. */
  inWords(): string | null {
    if (this.#titles.size === 0) return null;
    return [
      "Sources:",
      ...[...this.#titles].map(([url, title]) => (title === url ? `- ${url}` : `- ${title}: ${url}`)),
    ].join("\n");
  }
}
