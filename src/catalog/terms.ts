/** Words of a text for searching: see below. */
export function termsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/\p{L}+|\p{N}+/gu) ?? [];
}
