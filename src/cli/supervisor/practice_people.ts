import { newUserRow } from "../../auth/setup.ts";
import type { Store } from "../../contracts/store.ts";
import { systemClock, timestamp } from "../../lib/clock.ts";

/** Who of the practice Discord has an account. Everybody else there is a stranger, so that this too can be tried. */
const ACCOUNTS = [
  { username: "ada", display_name: "Ada", scopes: "read,write,approve" },
  { username: "ben", display_name: "Ben", scopes: "read,write" },
];

/**
 * Makes the accounts of the practice people where they are missing and links them. A practice Discord is new with each
 * start and its people have new ids, so links of an earlier one are taken away.
 */
export async function linkPracticePeople(
  store: Pick<Store, "users" | "channels">,
  people: readonly { id: string; username: string }[],
): Promise<void> {
  for (const account of ACCOUNTS) {
    const person = people.find((one) => one.username === account.username);
    if (person === undefined) continue;
    const user_id = await accountOf(store, account);
    for (const old of await store.channels.linksOfUser(user_id)) {
      if (old.channel_type === "discord") await store.channels.unlink("discord", old.channel_user_id);
    }
    const created = timestamp(systemClock);
    const { scopes } = account;
    await store.channels.link({ channel_type: "discord", channel_user_id: person.id, user_id, scopes, created });
  }
}

async function accountOf(store: Pick<Store, "users">, account: (typeof ACCOUNTS)[number]): Promise<string> {
  const known = await store.users.byUsername(account.username);
  if (known !== null) return known.user_id;
  const row = await newUserRow({ ...account, password: null }, systemClock);
  if (row === null || !(await store.users.create(row))) throw new Error(`The user ${account.username} was not made.`);
  return row.user_id;
}
