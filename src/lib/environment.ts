import { createRedactor } from "./redact.ts";

/** Everything of ours begins with it. */
const OWN_PREFIX = "TURNSTONE_";

/** Names that say that the value is secret. `KEY` counts only as a word of its own: a monkey is no key. */
const SECRET_NAME =
  /(?:(?:^|[_-])KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:^|_)PAT)(?:_?(?:ID|FILE|BASE64|B64))?$/i;

/** Node's private arrangements between a parent and its child. */
const NODE_INTERNALS: ReadonlySet<string> = new Set([
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_UNIQUE_ID",
]);

/** No program is to wait at a pager or prompt, nor to draw on a terminal that is none. */
const FOR_COMMANDS: Readonly<Record<string, string>> = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
};

const redact = createRedactor([]);

/**
 * The environment for programs that a model may direct: without all that is ours, without names that promise a secret
 * and values that look like one (a password in an address). `allow` lists names to let through all the same, but
 * never ours.
 */
export function scrubEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  allow: readonly string[] = [],
): Record<string, string> {
  const allowed = new Set(allow);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || name.toUpperCase().startsWith(OWN_PREFIX) || NODE_INTERNALS.has(name)) continue;
    if (allowed.has(name) || !(SECRET_NAME.test(name) || redact(value) !== value)) kept[name] = value;
  }
  return { ...kept, ...FOR_COMMANDS };
}
