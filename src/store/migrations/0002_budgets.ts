import type { Migration } from "./migration.ts";

/** What a person was allowed beyond the budget of a day; the number makes two presses of one button one extension. */
export const budgets: Migration = {
  version: 2,
  name: "budgets",
  sql: `
create table budget_extensions (
  user_id text not null,
  day text not null,
  extension integer not null,
  granted_by text,
  at text not null,
  primary key (user_id, day, extension)
) strict, without rowid;
`,
};
