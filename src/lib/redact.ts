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

/** The same for the given values alone: what a person chose to write stays otherwise as it is. */
export function createOwnRedactor(secrets: readonly string[]): (text: string) => string {
  const own = ownPattern(secrets);
  return (text) => (own === null ? text : text.replace(own, REDACTED));
}

/** The values as they are and as JSON, URLs, Basic headers and base64 carry them. */
export function secretForms(secrets: readonly string[]): string[] {
  const forms = secrets
    .filter((secret) => secret.length >= OWN_SECRET_LENGTH_MIN)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64"),
    ]);
  // The longest first: a value may be the beginning of another.
  return [...new Set(forms)].toSorted((one, other) => other.length - one.length);
}

function ownPattern(secrets: readonly string[]): RegExp | null {
  const forms = secretForms(secrets);
  if (forms.length === 0) return null;
  return new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
}

interface Pattern {
  pattern: RegExp;
  /** Gets the match and its groups. */
  replacement: (match: string, before: string, behind: string) => string;
}

// Each pattern starts at one place of a run of word characters only (the lookbehind), so that a long run of
// near-matches is not searched again from each of its characters.
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
/** Neither a reference to a variable, nor redacted already. */
const NEW_VALUE = "(?!\\$|\\[redacted)";
/** An unquoted value, as long as it goes on. */
const BARE_VALUE =
  "(?!(?:[0-9]{1,8}|[tT]rue|[fF]alse|[nN]ull|[nN]one|undefined)(?![\\w.-]))[^\\s\"'`,;&|<>(){}\\[\\]$\\\\]{4,}";
/** In a program, a value without a digit is more often a name, a type or an example than a password. */
const HAS_DIGIT = "(?=[^\\s\"'(){}\\[\\]]{0,64}[0-9])";
const QUOTE = `\\\\?["']`;
const SCHEME = "(?:bearer|basic|bot|token|digest|apikey)";

/** Everything that the pattern takes beyond its first group is the secret. */
function secretBehind(pattern: string, flags = "g"): Pattern {
  return { pattern: new RegExp(pattern, flags), replacement: (_match, before) => `${before}${REDACTED}` };
}

/**
 * The same for an unquoted value, where what comes behind it must look like an end. It is looked at after the match,
 * so that a long value that turns out to be none is not searched again from each of its parts.
 */
function bareSecretBehind(pattern: string, behind: string, isEnd: (end: string) => boolean): Pattern {
  return {
    pattern: new RegExp(`(${pattern})${BARE_VALUE}(${behind})`, "gm"),
    replacement: (match, name, end) => (isEnd(end) ? `${name}${REDACTED}${end}` : match),
  };
}

/** A call or an element follows. */
const BRACKET = "[([{]?";
const REST_OF_LINE = "[ \\t]{0,8}(?:$|[^\\n])";

const PATTERNS: readonly Pattern[] = [
  {
    pattern: new RegExp(
      "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,16384}" +
        "(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
      "g",
    ),
    replacement: () => REDACTED,
  },
  { pattern: new RegExp(`${START}(?:${TOKEN_FORMS.join("|")})`, "g"), replacement: () => REDACTED },
  secretBehind(`(authorization["']?[ \\t]{0,8}[:=][ \\t]{0,8}["']?${SCHEME}[ \\t]{1,8})[A-Za-z0-9._~+/=-]{6,}`, "gi"),
  secretBehind(`(authorization["']?[ \\t]{0,8}[:=][ \\t]{0,8}["']?)${HAS_DIGIT}[A-Za-z0-9._~+/=-]{16,}`, "gi"),
  secretBehind("(\\bbearer[ \\t]{1,8})(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{8,}", "gi"),
  {
    pattern: /(:\/\/[^\s:@/"'`]{0,256}:)(?!\[redacted\]@)[^\s/"'`]{1,256}@/g,
    replacement: (_match, before) => `${before}${REDACTED}@`,
  },
  // As in `.env`: NAME=value and NAME="value".
  secretBehind(`(${START}${CONSTANT_NAME}=["'])${NEW_VALUE}[^"'\\n]{4,512}`),
  bareSecretBehind(`${START}${CONSTANT_NAME}=`, BRACKET, (end) => end === ""),
  // As in JSON, also within a string of JSON, and in dictionaries: "name": "value".
  secretBehind(
    `(${QUOTE}(?:${CONSTANT_NAME}|${COMMON_NAME})${QUOTE}[ \\t]{0,8}(?:=>|:)[ \\t]{0,8}${QUOTE})` +
      `${NEW_VALUE}[^"'\\\\\\n]{4,512}`,
  ),
  // As in programs: name = "value".
  secretBehind(
    `(${START}(?:${CONSTANT_NAME}|${COMMON_NAME})[ \\t]{0,8}[:=][ \\t]{0,8}["'])` +
      `${NEW_VALUE}(?!/)${HAS_DIGIT}[^"'\\s\\\\]{6,512}(?=["'])`,
  ),
  // As in addresses and connection strings: name=value.
  bareSecretBehind(`${START}${COMMON_NAME}=${HAS_DIGIT}`, BRACKET, (end) => end === ""),
  // As in YAML, up to the end of the line: name: value.
  bareSecretBehind(
    `${START}(?:${CONSTANT_NAME}|${COMMON_NAME}):[ \\t]{1,8}${HAS_DIGIT}`,
    REST_OF_LINE,
    (end) => end.trim() === "",
  ),
];
