import type { Migration } from "./migration.ts";

/** Sessions that were ended before they ran out, by the hash of their token. */
export const ended_sessions: Migration = {
  version: 3,
  name: "ended_sessions",
  sql: `
create table ended_sessions (
  token_hash text not null primary key,
  expires text not null
) strict, without rowid;
`,
};
