/** A number of things for people, such as `1 line` or `2,000 lines`; for nouns that take an s. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
