import type { AdminCommand } from "./command.ts";

export const listUsers: AdminCommand = {
  usage: "list-users",
  about: "show everybody who has an account",
  async run({ store }) {
    const users = await store.users.list();
    const shown = users.map(({ user_id, username, display_name, scopes, created }) => {
      return { user_id, username, name: display_name, scopes, created };
    });
    const lines = shown.map((user) => `${user.user_id}  ${user.username}  ${user.scopes}  ${user.name}`);
    return { ok: true, data: { users: shown }, lines: lines.length === 0 ? ["There are no users yet."] : lines };
  },
};
