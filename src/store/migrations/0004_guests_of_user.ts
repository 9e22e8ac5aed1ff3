import type { Migration } from "./migration.ts";

/** A person's list also holds the workstreams where they are a guest, so those must be found by the person. */
export const guests_of_user: Migration = {
  version: 4,
  name: "guests_of_user",
  sql: "create index workstream_guests_of_user on workstream_guests (user_id);",
};
