import type { Migration } from "./migration.ts";

const WORKSTREAMS = `
create table workstreams (
  workstream_number integer primary key,
  ws_id text not null unique,
  name text not null,
  title text,
  alias text unique,
  kind text not null,
  parent_ws_id text,
  parent_call_id text,
  user_id text,
  state text not null,
  turn_open integer not null,
  model_alias text,
  auto_approve integer not null,
  auto_approve_tools text not null,
  context_tokens integer not null,
  last_seq integer not null,
  message_count integer not null,
  created text not null,
  updated text not null,
  closed text
) strict;
create index workstreams_newest on workstreams (created);
create index workstreams_newest_open on workstreams (created) where closed is null;
create index workstreams_newest_of_user on workstreams (user_id, created);
create index workstreams_newest_open_of_user on workstreams (user_id, created) where closed is null;
create index workstreams_children on workstreams (parent_ws_id) where parent_ws_id is not null;
create index workstreams_turn_open on workstreams (ws_id) where turn_open = 1;
create index workstreams_busy on workstreams (state) where state <> 'idle' and closed is null;

create table workstream_guests (
  ws_id text not null references workstreams (ws_id) on delete cascade,
  user_id text not null,
  primary key (ws_id, user_id)
) strict, without rowid;

create table removed_workstreams (ws_id text primary key) strict, without rowid;
`;

// Entries have no foreign key: they are many, so they are taken away in small portions after their workstream is gone.
const JOURNAL = `
create table journal (
  entry_number integer primary key,
  ws_id text not null,
  seq integer not null,
  at text not null,
  type text not null,
  event text not null,
  private text
) strict;
create unique index journal_order on journal (ws_id, seq);
create index journal_compactions on journal (ws_id, seq) where type = 'compaction';
`;

const WAITING = `
create table messages (
  message_number integer primary key,
  msg_id text not null unique,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  client_send_id text,
  state text not null,
  answered text not null,
  content text not null,
  attachments text not null,
  sender text,
  source text not null,
  created text not null
) strict;
create unique index messages_sent on messages (ws_id, client_send_id);
create index messages_queued on messages (ws_id) where state = 'queued';

create table approvals (
  cycle_id text primary key,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  seq integer not null,
  items text not null,
  decisions text not null,
  state text not null,
  approved integer,
  decided_by text,
  reason text,
  decided text,
  created text not null,
  expires text
) strict;
create index approvals_of_workstream on approvals (ws_id, seq);
create index approvals_pending on approvals (ws_id, seq) where state = 'pending';

create table reviews (
  review_id text primary key,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  seq integer not null,
  call_id text not null,
  content text not null,
  round integer not null,
  state text not null,
  feedback text,
  decided_by text,
  decided text,
  created text not null
) strict;
create index reviews_of_workstream on reviews (ws_id, seq);
create index reviews_pending on reviews (ws_id, seq) where state = 'pending';

create table grants (
  grant_number integer primary key,
  grant_id text not null unique,
  ws_id text references workstreams (ws_id) on delete cascade,
  user_id text not null,
  tool text not null,
  match text not null,
  pattern text,
  created text not null,
  expires text,
  revoked text
) strict;
create index grants_of_workstream on grants (ws_id);
create index grants_of_user on grants (user_id);

create table attachments (
  attachment_number integer primary key,
  attachment_id text not null unique,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  user_id text,
  filename text not null,
  media_type text not null,
  size integer not null,
  path text,
  width integer,
  height integer,
  created text not null
) strict;
create index attachments_of_workstream on attachments (ws_id);

create table attachment_bytes (
  attachment_id text primary key references attachments (attachment_id) on delete cascade,
  bytes blob not null
) strict;

create table notifications (
  notification_id text primary key,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  call_id text,
  turn_seq integer not null,
  target text not null,
  title text,
  message text not null,
  state text not null,
  deliveries text not null,
  created text not null
) strict;
create index notifications_of_turn on notifications (ws_id, turn_seq);
`;

const PEOPLE = `
create table users (
  user_number integer primary key,
  user_id text not null unique,
  username text not null unique,
  display_name text not null,
  password_hash text,
  scopes text not null,
  created text not null
) strict;

create table tokens (
  token_number integer primary key,
  token_id text not null unique,
  token_hash text not null unique,
  token_prefix text not null,
  user_id text not null references users (user_id) on delete cascade,
  name text not null,
  scopes text not null,
  created text not null,
  expires text,
  revoked text
) strict;
create index tokens_of_user on tokens (user_id);

create table channel_links (
  link_number integer primary key,
  channel_type text not null,
  channel_user_id text not null,
  user_id text not null references users (user_id) on delete cascade,
  scopes text not null,
  created text not null,
  unique (channel_type, channel_user_id)
) strict;
create index channel_links_of_user on channel_links (user_id);

create table channel_routes (
  channel_type text not null,
  channel_id text not null,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  kind text not null,
  guild_id text,
  parent_channel_id text,
  last_inbound_id text,
  cursor_seq integer not null,
  created text not null,
  primary key (channel_type, channel_id)
) strict;
create index channel_routes_of_workstream on channel_routes (ws_id);

create table posted_messages (
  posted_number integer primary key,
  channel_type text not null,
  channel_id text not null,
  message_id text not null,
  ws_id text not null references workstreams (ws_id) on delete cascade,
  shows text not null,
  part integer not null,
  created text not null,
  unique (channel_type, channel_id, shows, part)
) strict;
create index posted_messages_by_id on posted_messages (channel_type, message_id);
create index posted_messages_newest on posted_messages (channel_type, channel_id, length(message_id), message_id);
create index posted_messages_of_workstream on posted_messages (ws_id, shows);
`;

const RECORDS = `
create table services (
  service_type text not null,
  service_id text not null,
  url text not null,
  metadata text not null,
  last_heartbeat text not null,
  created text not null,
  primary key (service_type, service_id)
) strict;

create table audit (
  audit_number integer primary key,
  audit_id text not null unique,
  at text not null,
  user_id text,
  action text not null,
  target text not null,
  details text not null
) strict;
create index audit_newest on audit (at);

create table usage (
  usage_number integer primary key,
  ws_id text not null,
  user_id text,
  model_alias text not null,
  at text not null,
  prompt_tokens integer not null,
  completion_tokens integer not null,
  cache_read_tokens integer not null,
  cache_creation_tokens integer not null,
  cost_usd real
) strict;
create index usage_of_workstream on usage (ws_id, at);
create index usage_of_user on usage (user_id, at);
create index usage_since on usage (at);
`;

// The search indexes hold no text of their own. `owner` takes what a search is narrowed by, as words of their own.
const SEARCH = `
create table memories (
  memory_number integer primary key,
  memory_id text not null unique,
  scope text not null,
  owner text not null,
  key text not null,
  value text not null,
  created text not null,
  updated text not null,
  used text not null,
  unique (scope, owner, key)
) strict;
create index memories_last_used on memories (scope, owner, used);

create virtual table memory_search using fts5 (
  owner, key, value,
  content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

create virtual table conversation_search using fts5 (
  owner, content,
  content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

create table search_progress (entry_number integer not null) strict;
insert into search_progress values (0);
`;

/** The tables of the first release. */
export const initial: Migration = {
  version: 1,
  name: "initial",
  sql: [WORKSTREAMS, JOURNAL, WAITING, PEOPLE, RECORDS, SEARCH].join("\n"),
};
