import type { Migration } from "./migration.ts";

/** A gateway that starts reads a channel from where everything was heard, not the whole day before it. */
export const channel_marks: Migration = {
  version: 7,
  name: "channel_marks",
  sql: `create table channel_marks (
    channel_type text not null,
    channel_id text not null,
    heard_id text not null,
    updated text not null,
    primary key (channel_type, channel_id)
  ) strict, without rowid;
  create index channel_marks_oldest on channel_marks (updated);`,
};
