import type { Store } from "../../contracts/store.ts";
import { timestamp } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { visibleLine } from "../../lib/visible.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { AdminCommand, AdminContext } from "./command.ts";
import { findUser, textOf } from "./command.ts";

const SHOWN_DEFAULT = 50;
const SHOWN_MAX = 1000;

/** `turnstone admin audit`: who decided, granted, linked and administrated what. */
export const audit: AdminCommand = {
  usage: "audit",
  about: "show who did what, newest first",
  optional: [
    ["--user <name>", "only what this person did"],
    ["--action <name>", "only this, such as approval.decided or token.created"],
    ["--before <time>", "only what is older, such as 2026-01-31T12:00:00Z"],
    ["--limit <number>", `at most this many (${SHOWN_DEFAULT} where not given)`],
  ],
  async run({ store }, options) {
    const name = textOf(options, "user");
    const found = name === null ? null : await findUser(store, name);
    if (found !== null && !found.ok) return found;
    const limit = textOf(options, "limit") ?? String(SHOWN_DEFAULT);
    if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > SHOWN_MAX) {
      return { ok: false, error: `--limit must be a whole number from 1 to ${SHOWN_MAX}, not "${limit}".` };
    }
    const before = textOf(options, "before");
    if (before !== null && Number.isNaN(Date.parse(before))) {
      return { ok: false, error: `--before must be a time such as 2026-01-31T12:00:00Z, not "${before}".` };
    }
    const action = textOf(options, "action");
    const entries = await store.audit.list({
      limit: Number(limit),
      ...(found === null ? {} : { user_id: found.user.user_id }),
      ...(action === null ? {} : { action }),
      ...(before === null ? {} : { before: new Date(before).toISOString() }),
    });
    const names = await usernames(store);
    const shown = entries.map((entry) => ({ ...entry, username: names.get(entry.user_id ?? "") ?? null }));
    const lines = shown.map(({ at, username, user_id, action: act, target, details }) => {
      const who = username ?? user_id ?? "-";
      return visibleLine(`${at}  ${who}  ${act}  ${target}  ${JSON.stringify(details)}`);
    });
    return { ok: true, data: { entries: shown }, lines: lines.length === 0 ? ["Nothing is on record."] : lines };
  },
};

async function usernames(store: Store): Promise<Map<string, string>> {
  return new Map((await store.users.list()).map(({ user_id, username }) => [user_id, username]));
}

/** Keeps that somebody with access to the data directory did something: there, nobody is logged in. */
export async function record(
  { store, clock }: Pick<AdminContext, "store" | "clock">,
  action: string,
  target: string,
  details: JsonObject = {},
): Promise<void> {
  const at = timestamp(clock);
  await store.audit.add({
    audit_id: newId(),
    at,
    user_id: null,
    action,
    target,
    details: { ...details, by: "command line" },
  });
}
