/** What stands where a secret stood. */
export const REDACTED = "[redacted]";

/** Shorter own values would be found in innocent words. */
const OWN_SECRET_LENGTH_MIN = 8;

/**
 * Makes a function that takes secrets out of a text: the given values wherever they appear, tokens of well-known form,
 * private keys, passwords in connection strings, authorization headers, and values assigned to names that say so. It is
 * linear in the text's length, and applying it twice changes nothing more.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const own = ownPattern(secrets);
  return (text) => {
    let clean = own === null ? text : text.replace(own, REDACTED);
    for (const { pattern, replacement } of PATTERNS) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

/** The values as they are and as JSON, URLs, Basic headers and base64 carry them. */
function ownPattern(secrets: readonly string[]): RegExp | null {
  const forms = secrets
    .filter((secret) => secret.length >= OWN_SECRET_LENGTH_MIN)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64"),
    ]);
  if (forms.length === 0) return null;
  // The longest first: a value may be the beginning of another.
  const sorted = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  return new RegExp(sorted.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
}

interface Pattern {
  pattern: RegExp;
  replacement: string;
}

// Each pattern starts at one place of a run of word characters only (the lookbehind), so that a long run of near-matches
// is not searched again from each of its characters.
const START = "(?<![A-Za-z0-9_-])";

/** Forms that their issuers publish so that they can be found. */
const TOKEN_FORMS = [
  "ts_[0-9a-fA-F]{64}",
  "eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*",
  "(?:sk|rk|pk)-(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{16,}",
  "(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
  "gh[opsur]_[A-Za-z0-9]{20,}",
  "github_pat_[A-Za-z0-9_]{20,}",
  "glpat-[A-Za-z0-9_-]{20,}",
  "(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
  "AIza[A-Za-z0-9_-]{35}",
  "xox[abceoprs]-[A-Za-z0-9-]{10,}",
  "xapp-[A-Za-z0-9-]{10,}",
  "npm_[A-Za-z0-9]{36}",
  "hf_[A-Za-z0-9]{30,}",
  "tvly-[A-Za-z0-9_-]{16,}",
  // A Discord bot's token: its user id in base64, a time stamp, and a signature.
  "[MNO][A-Za-z0-9_-]{22,28}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,45}",
];

/** Names whose value is secret whatever it looks like. KEY counts only as a word of its own, else `monkey` would. */
const CONSTANT_NAME = "[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_KEY|API_?KEY)";
/** In lower case only some keys are secret; a `primary_key` is not. */
const KEY_WORD = "(?:[aA]pi|[sS]ecret|[pP]rivate|[aA]ccess|[aA]uth|[eE]ncryption|[sS]igning|[mM]aster)[_-]?[kK]ey";
const COMMON_NAME = `[A-Za-z0-9_-]*(?:[tT]oken|[sS]ecret|[pP]assw(?:or)?d|[pP]assphrase|[cC]redentials?|${KEY_WORD})`;
/** What stands between name and value, with the quotation mark that may close the name. */
const ASSIGNS = `["']?[ \\t]{0,8}(?:=>?|:)[ \\t]{0,8}`;
/** An unquoted value: no reference to a variable, no call, no element, no type. */
const BARE_VALUE = "[^\\s\"'`,;&|<>(){}\\[\\]$\\\\]{4,4096}(?=$|[\\s\"'`,;&|<>)}\\]$\\\\])";
const PLAIN_VALUE = "(?!(?:[0-9]{1,8}|[tT]rue|[fF]alse|[nN]ull|[nN]one|undefined)(?![\\w.-]))";

const SCHEME = "(?:bearer|basic|bot|token|digest|apikey)";

const PATTERNS: readonly Pattern[] = [
  {
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,16384}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    replacement: REDACTED,
  },
  { pattern: new RegExp(`${START}(?:${TOKEN_FORMS.join("|")})`, "g"), replacement: REDACTED },
  {
    pattern: new RegExp(
      `(authorization["']?[ \\t]{0,8}[:=][ \\t]{0,8}["']?(?:${SCHEME}[ \\t]{1,8})?)(?!${SCHEME}[ \\t])[A-Za-z0-9._~+/=-]{6,}`,
      "gi",
    ),
    replacement: `$1${REDACTED}`,
  },
  { pattern: /(\bbearer[ \t]{1,8})(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{8,}/gi, replacement: `$1${REDACTED}` },
  { pattern: /(:\/\/[^\s:@/"'`]{0,256}:)(?!\[redacted\]@)[^\s/"'`]{1,256}@/g, replacement: `$1${REDACTED}@` },
  {
    pattern: new RegExp(
      `(${START}(?:${CONSTANT_NAME}|${COMMON_NAME})${ASSIGNS})(?!.\\[redacted\\])(?:"[^"$\\n][^"\\n]{3,512}"|'[^'$\\n][^'\\n]{3,512}')`,
      "g",
    ),
    replacement: `$1"${REDACTED}"`,
  },
  {
    pattern: new RegExp(`(${START}${CONSTANT_NAME}(?:=|:[ \\t]{1,8}))${PLAIN_VALUE}${BARE_VALUE}`, "g"),
    replacement: `$1${REDACTED}`,
  },
  // In lower case a value without a digit is more often a variable of a program than a password.
  {
    pattern: new RegExp(`(${START}${COMMON_NAME}(?:=|:[ \\t]{1,8}))(?=[A-Za-z_.!@#%^*+/~-]{0,64}[0-9])${PLAIN_VALUE}${BARE_VALUE}`, "g"),
    replacement: `$1${REDACTED}`,
  },
];
