import { audit } from "./audit.ts";
import { backup } from "./backup.ts";
import type { AdminCommand } from "./command.ts";
import { createToken } from "./create_token.ts";
import { createUser } from "./create_user.ts";
import { link, unlink } from "./link.ts";
import { listTokens } from "./list_tokens.ts";
import { listUsers } from "./list_users.ts";
import { revokeToken } from "./revoke_token.ts";

/** The subcommands that work on an open store. */
export const ADMIN_COMMANDS: readonly AdminCommand[] = [
  createUser,
  createToken,
  listUsers,
  listTokens,
  revokeToken,
  link,
  unlink,
  audit,
  backup,
];
