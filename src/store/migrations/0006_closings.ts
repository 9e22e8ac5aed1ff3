import type { Migration } from "./migration.ts";

/**
 * A place must be told that its conversation was closed, also when its gateway is away and when the conversation is
 * gone by then: so this refers to no other row.
 */
export const closings: Migration = {
  version: 6,
  name: "closings",
  sql: `create table closings (
    channel_type text not null,
    channel_id text not null,
    ws_id text not null,
    name text not null,
    closed text not null,
    removed integer not null,
    leftovers text not null,
    primary key (channel_type, channel_id)
  ) strict, without rowid;
  create index closings_of_workstream on closings (ws_id);`,
};
