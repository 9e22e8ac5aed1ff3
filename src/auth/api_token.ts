import { randomBytes } from "node:crypto";
import type { TokenRow } from "../contracts/store.ts";
import { newId, sha256 } from "../lib/ids.ts";

const API_TOKEN = /^ts_[0-9a-f]{64}$/;

/** How much of a token is kept readable, to recognise it by. */
const PREFIX_LENGTH = 8;

/** A new API token and the row that stands for it. The token itself is nowhere kept. */
export function newApiToken(about: Pick<TokenRow, "user_id" | "name" | "scopes" | "created" | "expires">): {
  token: string;
  row: TokenRow;
} {
  const token = `ts_${randomBytes(32).toString("hex")}`;
  const row = {
    token_id: newId(),
    token_hash: sha256(token),
    token_prefix: token.slice(0, PREFIX_LENGTH),
    ...about,
    revoked: null,
  };
  return { token, row };
}

/** Whether a text has the form of an API token. */
export function isApiToken(text: string): boolean {
  return API_TOKEN.test(text);
}

/** Whether a token still counts. An expiry that is no date counts as past. */
export function isTokenAlive(row: TokenRow, now: number): boolean {
  return row.revoked === null && (row.expires === null || Date.parse(row.expires) > now);
}
