import { SCOPES, type Scope } from "../protocol/auth.ts";

/** The scopes that a comma-separated text names, each with those it includes. Unknown words count for nothing. */
export function parseScopes(text: string): Set<Scope> {
  const named = new Set(text.split(",").map((word) => word.trim()));
  const scopes = new Set<Scope>();
  if (named.has("service")) scopes.add("service");
  const highest = SCOPES.findLastIndex((scope) => named.has(scope));
  for (const scope of SCOPES.slice(0, highest + 1)) scopes.add(scope);
  return scopes;
}

/** What both allow: a credential never gives more than its person has. `service` is no person's and falls away. */
export function intersectScopes(left: ReadonlySet<Scope>, right: ReadonlySet<Scope>): Set<Scope> {
  return new Set(SCOPES.filter((scope) => left.has(scope) && right.has(scope)));
}

/** Comma-separated, from least to most. */
export function formatScopes(scopes: ReadonlySet<Scope>): string {
  return [...SCOPES, "service" as const].filter((scope) => scopes.has(scope)).join(",");
}

/** True when every word of the text is a scope that a person's credential can have. */
export function areScopes(text: string): boolean {
  return text.split(",").every((word) => (SCOPES as readonly string[]).includes(word.trim()));
}
