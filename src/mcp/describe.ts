/** Characters of a description for models: OpenAI refuses a request in which one is longer. */
export const DESCRIPTION_LENGTH_MAX = 1024;

/** Controls but for line feed, and characters that nobody sees or that reorder what is seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu;

/**
 * A server's description for a model: where it comes from, then what the server says, without characters that nobody
 * sees, and cut to what every provider takes.
 */
export function toolDescription(server: string, text: string): string {
  return clip(`[MCP: ${plainText(server)}] ${plainText(text)}`.trim(), DESCRIPTION_LENGTH_MAX);
}

/** Text of a server without control characters, tabs as spaces; line feeds stay. */
export function plainText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", "  ")
    .replace(UNSEEN, (character) => (character === "\n" ? "\n" : ""));
}

/** At most `limit` characters, with an ellipsis where something is missing. */
export function clip(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;
}
