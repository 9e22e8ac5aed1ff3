import type { Migration } from "./migration.ts";

/**
 * How people sign in to MCP servers. Payloads are sealed before they come here. A credential of nobody, with the empty
 * `user_id`, is what the server knows this installation by.
 */
export const mcp_sign_ins: Migration = {
  version: 5,
  name: "mcp_sign_ins",
  sql: `
create table mcp_credentials (
  server text not null,
  user_id text not null,
  payload text not null,
  updated text not null,
  primary key (server, user_id)
) strict, without rowid;
create table mcp_sign_ins (
  state_hash text not null primary key,
  server text not null,
  user_id text not null,
  payload text not null,
  expires text not null
) strict, without rowid;
create index mcp_sign_ins_by_user on mcp_sign_ins (user_id);
`,
};
