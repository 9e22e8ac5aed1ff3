import type { Store, UserRow } from "../../contracts/store.ts";
import type { Config } from "../../config/load.ts";
import type { Clock } from "../../lib/clock.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** What a subcommand of `admin` works with. */
export interface AdminContext {
  store: Store;
  config: Config;
  clock: Clock;
  /** The first line of standard input. */
  readLine(): Promise<string>;
}

export type AdminResult =
  /** `data` is what `--json` prints, `lines` what people read. */
  { ok: true; data: JsonObject; lines: readonly string[] } | { ok: false; error: string };

export type AdminOptions = Readonly<Record<string, string | boolean | undefined>>;

/** One subcommand: a leaf. */
export interface AdminCommand {
  /** With its arguments, such as `backup <file>`; an argument reaches `run` as the option of its name. */
  usage: string;
  about: string;
  /** In commander's notation. One in `required` must be given. */
  required?: readonly (readonly [string, string])[];
  optional?: readonly (readonly [string, string])[];
  run(context: AdminContext, options: AdminOptions): Promise<AdminResult>;
}

/** An option that has a value; null when it was not given. */
export function textOf(options: AdminOptions, name: string): string | null {
  const value = options[name];
  return typeof value === "string" ? value : null;
}

/** The person with a user name, or a sentence that names those there are. */
export async function findUser(
  store: Store,
  name: string | null,
): Promise<{ ok: true; user: UserRow } | { ok: false; error: string }> {
  const user = name === null ? null : await store.users.byUsername(name.trim().toLowerCase());
  if (user !== null) return { ok: true, user };
  return { ok: false, error: `There is no user "${name ?? ""}"; turnstone admin list-users shows who there is.` };
}
