import { newApiToken } from "../../auth/api_token.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "../../auth/password.ts";
import { newUserRow } from "../../auth/setup.ts";
import { timestamp } from "../../lib/clock.ts";
import { SCOPES } from "../../protocol/auth.ts";
import { record } from "./audit.ts";
import type { AdminCommand, AdminContext, AdminOptions, AdminResult } from "./command.ts";
import { textOf } from "./command.ts";
import { readScopes } from "./scopes.ts";

export const createUser: AdminCommand = {
  usage: "create-user",
  about: "add a person",
  required: [["--username <name>", "what the person logs in with"]],
  optional: [
    ["--name <text>", "what the person is called"],
    ["--password-stdin", "read a password from standard input"],
    ["--token", "also make an API token and print it"],
    ["--scopes <list>", "read, write, approve (all where not given)"],
  ],
  run,
};

async function run(context: AdminContext, options: AdminOptions): Promise<AdminResult> {
  const { store, clock } = context;
  const username = textOf(options, "username") ?? "";
  const scopes = readScopes(textOf(options, "scopes"), SCOPES.join(","));
  if (!scopes.ok) return scopes;
  const password = options["passwordStdin"] === true ? await context.readLine() : null;
  if (password !== null && (password.length < PASSWORD_LENGTH_MIN || password.length > PASSWORD_LENGTH_MAX)) {
    return {
      ok: false,
      error: `A password must have from ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters.`,
    };
  }
  const row = await newUserRow(
    { username, display_name: textOf(options, "name"), password, scopes: scopes.scopes },
    clock,
  );
  if (row === null) {
    const allowed = "up to 64 letters of a to z, digits, dots, underscores and hyphens";
    return { ok: false, error: `"${username}" cannot be a user name; allowed are ${allowed}.` };
  }
  if (!(await store.users.create(row))) {
    return { ok: false, error: `There is a user "${row.username}" already; choose another name.` };
  }
  await record(context, "user.created", row.user_id, { username: row.username, scopes: row.scopes });
  const lines = [`Created ${row.username} (${row.user_id}) with ${row.scopes}.`];
  if (options["token"] !== true) return { ok: true, data: { user_id: row.user_id, username: row.username }, lines };
  const made = newApiToken({
    user_id: row.user_id,
    name: "first token",
    scopes: row.scopes,
    created: timestamp(clock),
    expires: null,
  });
  await store.users.createToken(made.row);
  const about = { user_id: row.user_id, scopes: made.row.scopes, expires: null };
  await record(context, "token.created", made.row.token_id, about);
  const data = { user_id: row.user_id, username: row.username, token: made.token };
  return { ok: true, data, lines: [...lines, `Token, shown only now: ${made.token}`] };
}
