import { timingSafeEqual } from "node:crypto";
import type { Store, UserRow } from "../contracts/store.ts";
import { type Clock, timestamp } from "../lib/clock.ts";
import { newId, sha256 } from "../lib/ids.ts";
import { SCOPES } from "../protocol/auth.ts";
import { hashPassword } from "./password.ts";

/** Letters that a user name may have. Names are kept in lower case, so that `Admin` and `admin` are one person. */
const USERNAME = /^[a-z0-9._-]{1,64}$/;

/** The form in which a user name is kept; null when it cannot be one. */
export function normalizeUsername(name: string): string | null {
  const lower = name.trim().toLowerCase();
  return USERNAME.test(lower) ? lower : null;
}

export interface NewUser {
  username: string;
  display_name: string | null;
  /** Null: the person logs in with tokens alone. */
  password: string | null;
  /** Comma-separated. */
  scopes: string;
}

/** The row of a new person; null when the name cannot be one. */
export async function newUserRow(user: NewUser, clock: Clock): Promise<UserRow | null> {
  const username = normalizeUsername(user.username);
  if (username === null) return null;
  return {
    user_id: newId(),
    username,
    display_name: user.display_name?.trim() || user.username.trim(),
    password_hash: user.password === null ? null : await hashPassword(user.password),
    scopes: user.scopes,
    created: timestamp(clock),
  };
}

/** Creates the first person with every scope. Answers null when there is somebody already, whoever asked first. */
export async function createFirstUser(
  store: Pick<Store, "users">,
  clock: Clock,
  user: Omit<NewUser, "scopes">,
): Promise<UserRow | null> {
  if ((await store.users.count()) > 0) return null;
  const row = await newUserRow({ ...user, scopes: SCOPES.join(",") }, clock);
  return row !== null && (await store.users.createFirst(row)) ? row : null;
}

/** Compares the setup code in constant time. */
export function isSetupCode(given: string | undefined, expected: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given ?? "")), Buffer.from(sha256(expected))) && expected !== "";
}
