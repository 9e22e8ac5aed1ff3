import { newApiToken } from "../../auth/api_token.ts";
import { DAY_MS, timestamp } from "../../lib/clock.ts";
import { record } from "./audit.ts";
import type { AdminCommand, AdminContext, AdminOptions, AdminResult } from "./command.ts";
import { findUser, textOf } from "./command.ts";
import { readScopes } from "./scopes.ts";

export const createToken: AdminCommand = {
  usage: "create-token",
  about: "make an API token for a person and print it",
  required: [["--user <name>", "whose token it is"]],
  optional: [
    ["--scopes <list>", "read, write, approve (the person's own where not given)"],
    ["--expires-days <number>", "days until it stops working"],
    ["--name <text>", "what it is for"],
  ],
  run,
};

// A hundred years: far enough for anybody, and still a date that can be written.
const EXPIRES_DAYS_MAX = 36_500;

async function run(context: AdminContext, options: AdminOptions): Promise<AdminResult> {
  const { store, clock } = context;
  const found = await findUser(store, textOf(options, "user"));
  if (!found.ok) return found;
  const scopes = readScopes(textOf(options, "scopes"), found.user.scopes);
  if (!scopes.ok) return scopes;
  const days = textOf(options, "expiresDays");
  if (days !== null && (!/^\d+$/.test(days) || Number(days) < 1 || Number(days) > EXPIRES_DAYS_MAX)) {
    return { ok: false, error: `--expires-days must be a whole number from 1 to ${EXPIRES_DAYS_MAX}, not "${days}".` };
  }
  const { token, row } = newApiToken({
    user_id: found.user.user_id,
    name: textOf(options, "name") ?? "made on the command line",
    scopes: scopes.scopes,
    created: timestamp(clock),
    expires: days === null ? null : new Date(clock.now() + Number(days) * DAY_MS).toISOString(),
  });
  await store.users.createToken(row);
  const about = { user_id: row.user_id, scopes: row.scopes, expires: row.expires };
  await record(context, "token.created", row.token_id, about);
  return {
    ok: true,
    data: { token_id: row.token_id, token },
    lines: [`Created token ${row.token_id} for ${found.user.username} with ${row.scopes}.`, `Shown only now: ${token}`],
  };
}
