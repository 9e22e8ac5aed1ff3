import { areScopes, formatScopes, parseScopes } from "../../auth/scopes.ts";

export type ScopesReading = { ok: true; scopes: string } | { ok: false; error: string };

/** Reads `--scopes`; each scope brings those below it along. Null means all that `limit` allows. */
export function readScopes(given: string | null, limit: string): ScopesReading {
  if (given === null) return { ok: true, scopes: limit };
  if (!areScopes(given)) {
    return {
      ok: false,
      error: `"${given}" is not a list of scopes; allowed are read, write and approve, with commas between.`,
    };
  }
  const wanted = parseScopes(given);
  const allowed = parseScopes(limit);
  if ([...wanted].every((scope) => allowed.has(scope))) return { ok: true, scopes: formatScopes(wanted) };
  return { ok: false, error: `This user has only ${limit}; a token cannot have more.` };
}
