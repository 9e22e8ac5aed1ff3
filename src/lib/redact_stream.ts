import { secretForms } from "./redact.ts";

/** Takes secrets out of a text that comes in pieces. */
export interface StreamRedactor {
  /** The next piece. Answers what may be shown now: an end that may be the beginning of a secret is kept back. */
  push(piece: string): string;
  /** What was kept back; afterwards a new text may begin. */
  end(): string;
}

/** Characters of a token that are waited for; a longer word is none. */
const TOKEN_LENGTH_MAX = 4096;

/** What tokens of well-known form begin with. */
const TOKEN_HEADS = [
  "ts_",
  "eyJ",
  "sk-",
  "rk-",
  "pk-",
  "sk_live",
  "sk_test",
  "rk_live",
  "rk_test",
  "ghp_",
  "gho_",
  "ghs_",
  "ghu_",
  "ghr_",
  "github_pat_",
  "glpat-",
  "AKIA",
  "ASIA",
  "AIza",
  "xox",
  "xapp-",
  "npm_",
  "hf_",
  "tvly-",
];

/** The word that a text ends with, if it is no longer than a token may be. */
const LAST_WORD = new RegExp(`(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]{1,${TOKEN_LENGTH_MAX}}$`);

/**
 * Makes redactors for texts that come in pieces, however a secret is cut. Nearly every piece passes at once: only an
 * end that matches the beginning of a given value, or of a token of well-known form, waits for what follows.
 */
export function createStreamRedactors(
  redact: (text: string) => string,
  secrets: readonly string[],
): () => StreamRedactor {
  const held = holdBack(secrets);
  return () => {
    let pending = "";
    return {
      push(piece) {
        pending += piece;
        const shown = pending.slice(0, pending.length - held(pending));
        pending = pending.slice(shown.length);
        return shown === "" ? "" : redact(shown);
      },
      end() {
        const rest = pending;
        pending = "";
        return rest === "" ? "" : redact(rest);
      },
    };
  };
}

/** How many characters at the end of a text have to wait. */
function holdBack(secrets: readonly string[]): (text: string) => number {
  const by_first = new Map<string, string[]>();
  let longest = 0;
  for (const form of secretForms(secrets)) {
    by_first.set(form.charAt(0), [...(by_first.get(form.charAt(0)) ?? []), form]);
    longest = Math.max(longest, form.length);
  }
  return (text) => Math.max(ownBeginning(text, by_first, longest), tokenBeginning(text));
}

function ownBeginning(text: string, by_first: ReadonlyMap<string, string[]>, longest: number): number {
  for (let from = Math.max(0, text.length - longest + 1); from < text.length; from += 1) {
    const tail = text.slice(from);
    if (by_first.get(text.charAt(from))?.some((form) => form.length > tail.length && form.startsWith(tail)) === true) {
      return tail.length;
    }
  }
  return 0;
}

function tokenBeginning(text: string): number {
  const word = LAST_WORD.exec(text.slice(-TOKEN_LENGTH_MAX - 1))?.[0] ?? "";
  if (word === "") return 0;
  return TOKEN_HEADS.some((head) => word.startsWith(head) || head.startsWith(word)) ? word.length : 0;
}
