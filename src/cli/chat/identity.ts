import { userInfo } from "node:os";
import { LOGIN_LIFETIME_S, mintJwt } from "../../auth/jwt.ts";
import { createFirstUser, normalizeUsername } from "../../auth/setup.ts";
import { prepareDataDirectory } from "../../config/data_directory.ts";
import type { Config } from "../../config/load.ts";
import type { Store, UserRow } from "../../contracts/store.ts";
import { systemClock } from "../../lib/clock.ts";
import { AUDIENCE_SERVER } from "../../protocol/auth.ts";
import { StoreError } from "../../store/index.ts";
import { findUser } from "../admin/command.ts";
import { openConfiguredStore } from "../store_access.ts";

export type Identity = { ok: true; token: string } | { ok: false; error: string };

/**
 * A credential for the terminal client: the token that is set, else one made here. Whoever may read the data directory
 * may act as anybody anyway; without any account yet, one for the person at this machine is made.
 */
export async function identify(config: Config, username: string | null): Promise<Identity> {
  if (config.chat.token !== null) return { ok: true, token: config.chat.token };
  const prepared = prepareDataDirectory(config);
  if (!prepared.ok) return prepared;
  try {
    const store = await openConfiguredStore(config);
    try {
      const found = username === null ? await usualUser(store) : await findUser(store, username);
      if (!found.ok) return found;
      const { user_id: sub, scopes } = found.user;
      const secret = new TextEncoder().encode(prepared.jwt_secret);
      const request = { sub, scopes, audience: AUDIENCE_SERVER, lifetime_s: LOGIN_LIFETIME_S } as const;
      return { ok: true, token: await mintJwt(secret, systemClock, request) };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreError) return { ok: false, error: error.message };
    throw error;
  }
}

/** The account that may approve and was made first, else a new one. */
async function usualUser(store: Store): Promise<{ ok: true; user: UserRow } | { ok: false; error: string }> {
  const users = (await store.users.list()).toSorted((one, other) => one.created.localeCompare(other.created));
  const known = users.find((user) => user.scopes.split(",").includes("approve")) ?? users[0];
  if (known !== undefined) return { ok: true, user: known };
  const username = normalizeUsername(userInfo().username) ?? "me";
  const made = await createFirstUser(store, systemClock, { username, display_name: null, password: null });
  return made === null
    ? { ok: false, error: "An account was being made meanwhile; try again." }
    : { ok: true, user: made };
}
