/** The words in which settings are declared: what a value may be, where else it is set from, and what it is for. */

/** What reading a value may need to know of its surroundings. */
export interface Surroundings {
  /** The person's home folder, for `~`. */
  home: string;
  /** Folder that relative paths start from. */
  folder: string;
}

/** Where else than in the file a value may be set. */
export interface Sources {
  /** A variable of the environment. */
  env?: string;
  /** A flag, as `--help` shows it but without the dashes: `port <number>`; without a value it means true. */
  flag?: string;
}

/** One value. `read` takes what TOML holds, `parse` the text of a variable or a flag; undefined means not allowed. */
export interface Field<T> extends Sources {
  kind: "field";
  about: string;
  /** What is allowed, as the end of a sentence: `must be …`. */
  allowed: string;
  fallback: T;
  /** Shown in the documentation where the fallback is worked out elsewhere. */
  shown?: string;
  /** Never repeated in a message or a log. */
  secret: boolean;
  /** There is no fallback: the section that holds it is wrong without it. */
  required?: boolean;
  read(value: unknown, surroundings: Surroundings): T | undefined;
  parse(text: string, surroundings: Surroundings): T | undefined;
}

/** A table with known keys. In a partial one, a key that is not given is absent. */
export interface Section<K extends Keys = Keys, P extends boolean = boolean> {
  kind: "section";
  keys: K;
  partial: P;
}

/** A table whose keys are names that people choose. */
export interface Names<N extends Node = Node> {
  kind: "names";
  of: N;
  name: RegExp;
  /** What a name may be, as the end of a sentence. */
  allowed_name: string;
}

/** An array of tables. */
export interface Rows<N extends Node = Node> {
  kind: "rows";
  of: N;
}

/** A table that may be missing as a whole: null then. */
export interface Optional<N extends Node = Node> {
  kind: "optional";
  of: N;
}

export type Node = Field<unknown> | Section | Names | Rows | Optional;
export type Keys = { readonly [key: string]: Node };

type Given<N> =
  N extends Field<infer T>
    ? T
    : N extends Section<infer K, infer P>
      ? P extends true
        ? { readonly [Key in keyof K]?: Given<K[Key]> }
        : { readonly [Key in keyof K]: Given<K[Key]> }
      : N extends Names<infer I>
        ? { readonly [name: string]: Given<I> }
        : N extends Rows<infer I>
          ? readonly Given<I>[]
          : N extends Optional<infer I>
            ? Given<I> | null
            : never;

/** The type that a declaration reads to. */
export type ValueOf<N extends Node> = Given<N>;

export function section<K extends Keys>(keys: K): Section<K, false> {
  return { kind: "section", keys, partial: false };
}

export function partialSection<K extends Keys>(keys: K): Section<K, true> {
  return { kind: "section", keys, partial: true };
}

export function names<N extends Node>(of: N, name: RegExp, allowed_name: string): Names<N> {
  return { kind: "names", of, name, allowed_name };
}

export function optional<N extends Node>(of: N): Optional<N> {
  return { kind: "optional", of };
}

export function rows<N extends Node>(of: N): Rows<N> {
  return { kind: "rows", of };
}

type Options<T> = Sources & { about: string; fallback: T; shown?: string; required?: boolean };

interface TextOptions<T> extends Options<T> {
  accept?: (value: string) => boolean;
  allowed?: string;
  secret?: boolean;
}

/** A text that is not empty; white space around it does not count. */
export function text<T extends string | null>(options: TextOptions<T>): Field<string | T> {
  const { accept = () => true, allowed = "a text that is not empty", secret = false, ...rest } = options;
  const check = (value: unknown): string | undefined => {
    const trimmed = typeof value === "string" ? value.trim() : "";
    return trimmed !== "" && accept(trimmed) ? trimmed : undefined;
  };
  return { kind: "field", ...rest, allowed, secret, read: check, parse: check };
}

/** Any text at all, taken letter by letter: an argument, a variable of a child process, instructions. */
export function verbatim(options: Options<string>): Field<string> {
  const check = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { kind: "field", ...options, allowed: "a text", secret: false, read: check, parse: check };
}

/** An id of a platform: digits. TOML may hold it as a number, since people forget the quotes. */
export function snowflake<T extends string | null>(options: Options<T>): Field<string | T> {
  const check = (value: unknown): string | undefined => {
    const shown = typeof value === "bigint" || typeof value === "number" ? String(value) : value;
    return typeof shown === "string" && /^\d{1,20}$/.test(shown.trim()) ? shown.trim() : undefined;
  };
  return { kind: "field", ...options, allowed: "an id made of digits", secret: false, read: check, parse: check };
}

/** An address with http or https, without the slash at its end. */
export function address<T extends string | null>(options: Options<T>): Field<string | T> {
  const check = (value: unknown): string | undefined => {
    if (typeof value !== "string" || !/^https?:\/\//.test(value.trim()) || !URL.canParse(value.trim())) {
      return undefined;
    }
    return value.trim().replace(/\/+$/, "");
  };
  const allowed = "an address that begins with http:// or https://";
  return { kind: "field", ...options, allowed, secret: false, read: check, parse: check };
}

interface NumberOptions<T> extends Options<T> {
  minimum: number;
  maximum: number;
}

/** A number within bounds. */
export function number<T extends number | null>(options: NumberOptions<T>): Field<number | T> {
  const { minimum, maximum, ...rest } = options;
  const read = (value: unknown): number | undefined =>
    typeof value === "number" && value >= minimum && value <= maximum ? value : undefined;
  const parse = (given: string): number | undefined =>
    /^-?\d+(\.\d+)?$/.test(given.trim()) ? read(Number(given)) : undefined;
  return { kind: "field", ...rest, allowed: `a number from ${minimum} to ${maximum}`, secret: false, read, parse };
}

/** A whole number within bounds. */
export function whole<T extends number | null>(options: NumberOptions<T>): Field<number | T> {
  const base = number(options);
  const integer = (value: number | T | undefined): number | T | undefined =>
    Number.isInteger(value) ? value : undefined;
  return {
    ...base,
    allowed: `a whole number from ${options.minimum} to ${options.maximum}`,
    read: (value, surroundings) => integer(base.read(value, surroundings)),
    parse: (given, surroundings) => integer(base.parse(given, surroundings)),
  };
}

const YES = new Set(["true", "on", "yes", "1"]);
const NO = new Set(["false", "off", "no", "0"]);

/** One of a few numbers. */
export function numberChoice(choices: readonly number[], options: Options<number>): Field<number> {
  const read = (value: unknown): number | undefined => choices.find((one) => one === value);
  const parse = (given: string): number | undefined => choices.find((one) => String(one) === given.trim());
  return { kind: "field", ...options, allowed: listed(choices.map(String), "or"), secret: false, read, parse };
}

/** True or false; a variable may also say on and off. */
export function yesNo(options: Options<boolean>): Field<boolean> {
  return {
    kind: "field",
    ...options,
    allowed: "true or false",
    secret: false,
    read: (value) => (typeof value === "boolean" ? value : undefined),
    parse(given) {
      const word = given.trim().toLowerCase();
      return YES.has(word) ? true : NO.has(word) ? false : undefined;
    },
  };
}

/** One of a few words. */
export function choice<const C extends readonly string[], T extends C[number] | null>(
  choices: C,
  options: Options<T>,
): Field<C[number] | T> {
  const check = (value: unknown): C[number] | undefined => choices.find((one) => one === value);
  return { kind: "field", ...options, allowed: listed(choices, "or"), secret: false, read: check, parse: check };
}

/** Several values of one kind: an array in TOML, separated by commas in a variable. */
export function list<T>(
  of: Field<T>,
  options: Omit<Options<readonly NonNullable<T>[]>, "fallback">,
): Field<readonly NonNullable<T>[]> {
  const all = (values: unknown, surroundings: Surroundings): readonly NonNullable<T>[] | undefined => {
    if (!Array.isArray(values)) return undefined;
    const taken: NonNullable<T>[] = [];
    for (const value of values) {
      const one = of.read(value, surroundings);
      if (one === undefined || one === null) return undefined;
      taken.push(one);
    }
    return taken;
  };
  return {
    kind: "field",
    ...options,
    allowed: `a list whose every entry is ${of.allowed}`,
    fallback: [],
    secret: of.secret,
    read: all,
    parse: (given, surroundings) =>
      all(
        given.split(",").filter((part) => part.trim() !== ""),
        surroundings,
      ),
  };
}

/** `a, b or c`. */
export function listed(words: readonly string[], last: "and" | "or"): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}
