import type { JsonObject } from "../../src/protocol/json.ts";
import type { Signal } from "./signal.ts";

/** A person or a bot. */
export interface User {
  id: string;
  username: string;
  global_name: string;
  /** A colour as 0xRRGGBB; the avatar is drawn from it. */
  color: number;
  bot: boolean;
  /** True when the person takes no direct messages from bots. */
  dms_closed: boolean;
}

export interface Role {
  id: string;
  name: string;
  permissions: bigint;
  position: number;
  color: number;
}

export interface Member {
  user_id: string;
  nick: string | null;
  role_ids: string[];
  /** Milliseconds since the epoch. */
  joined_at: number;
}

export interface Guild {
  id: string;
  name: string;
  owner_id: string;
  roles: Map<string, Role>;
  members: Map<string, Member>;
}

/** What a channel grants or takes from a role (0) or a member (1). */
export interface Overwrite {
  id: string;
  type: 0 | 1;
  allow: bigint;
  deny: bigint;
}

/** Discord's channel types: text, DM, voice, announcement thread, public thread, private thread, forum. */
export const CHANNEL_TYPE = {
  text: 0,
  dm: 1,
  voice: 2,
  announcement: 5,
  announcement_thread: 10,
  public_thread: 11,
  private_thread: 12,
  forum: 15,
} as const;
export type ChannelType = (typeof CHANNEL_TYPE)[keyof typeof CHANNEL_TYPE];

/** What a channel has when it is a thread. */
export interface Thread {
  owner_id: string;
  archived: boolean;
  locked: boolean;
  invitable: boolean;
  /** Minutes: 60, 1440, 4320 or 10080. */
  auto_archive_duration: number;
  created_at: number;
  archive_changed_at: number;
  member_ids: Set<string>;
  message_count: number;
  total_message_sent: number;
  applied_tags: string[];
}

export interface Channel {
  id: string;
  type: ChannelType;
  guild_id: string | null;
  name: string;
  topic: string | null;
  parent_id: string | null;
  position: number;
  overwrites: Overwrite[];
  /** Both ends of a direct message; empty elsewhere. */
  recipient_ids: string[];
  last_message_id: string | null;
  rate_limit_per_user: number;
  tags: { id: string; name: string }[];
  thread: Thread | null;
}

export interface Attachment {
  id: string;
  filename: string;
  title: string | null;
  description: string | null;
  content_type: string;
  bytes: Uint8Array;
  width: number | null;
  height: number | null;
}

export interface MessageReference {
  /** 0 answers a message, 1 forwards one. */
  type: 0 | 1;
  channel_id: string;
  message_id: string;
  guild_id: string | null;
}

/** One message as Discord keeps it. Ephemeral ones have a single reader and are in nobody's history. */
export interface Message {
  id: string;
  channel_id: string;
  author_id: string;
  /** The name that a webhook wrote under; null for people and bots. */
  webhook_name: string | null;
  type: number;
  content: string;
  created_at: number;
  edited_at: number | null;
  attachments: Attachment[];
  embeds: JsonObject[];
  components: JsonObject[];
  flags: number;
  mentions: string[];
  mention_roles: string[];
  mention_everyone: boolean;
  pinned: boolean;
  tts: boolean;
  nonce: string | number | null;
  reference: MessageReference | null;
  /** The forwarded message as it was. */
  snapshot: JsonObject | null;
  stickers: { id: string; name: string; format_type: 1 }[];
  poll: JsonObject | null;
  reactions: Map<string, Set<string>>;
  interaction_id: string | null;
  ephemeral_for: string | null;
}

export interface Command {
  id: string;
  version: string;
  guild_id: string | null;
  /** 1 chat input, 2 user, 3 message. */
  type: 1 | 2 | 3;
  name: string;
  body: JsonObject;
}

/** A modal that a bot opened for one person. */
export interface Modal {
  custom_id: string;
  title: string;
  components: JsonObject[];
}

export type InteractionResult =
  | { outcome: "message"; message_id: string; ephemeral: boolean }
  | { outcome: "deferred"; ephemeral: boolean }
  | { outcome: "acknowledged" }
  | { outcome: "updated"; message_id: string }
  | { outcome: "modal"; modal: Modal }
  | { outcome: "choices"; choices: { name: string; value: string | number }[] }
  | { outcome: "failed"; text: string };

/** One press, command, autocomplete or form, from when the person did it. */
export interface Interaction {
  id: string;
  token: string;
  /** 2 command, 3 component, 4 autocomplete, 5 modal. */
  type: 2 | 3 | 4 | 5;
  user_id: string;
  channel_id: string;
  guild_id: string | null;
  created_at: number;
  /** The command's name, where there is one. */
  command_name: string | null;
  /** The message that carries the component. */
  message_id: string | null;
  /** The interaction that opened the form; null for all but forms. */
  triggered_by: string | null;
  /** What the bot answered first; null until it does. */
  result: InteractionResult | null;
  /** Set by a deferral that creates a message; the first follow-up fills it. */
  waiting_for_content: boolean;
  /** What `@original` means. */
  original_id: string | null;
  /** Ends the token early, as if 15 minutes had passed. */
  expired: boolean;
}

/** A gateway event on its way to the bot's sessions. */
export interface BotEvent {
  name: string;
  data: JsonObject;
  /** The intent that asks for it; null for events that always come. */
  intent: number | null;
  /** The message whose text needs the message content intent; null when nothing is hidden. */
  private_message: Message | null;
}

/** Something that a watching person or test may want to look at again. */
export type Change =
  | { kind: "guild" }
  | { kind: "channel"; channel_id: string }
  | { kind: "messages"; channel_id: string }
  | { kind: "typing"; channel_id: string; user_id: string }
  | { kind: "interaction"; interaction_id: string }
  | { kind: "request" }
  | { kind: "session" };

/** A request that the bot made and what it got. */
export interface RequestRecord {
  at: number;
  method: string;
  /** With the query, below the API's version, such as `/channels/1/messages?limit=5`. */
  path: string;
  /** The route's template, such as `/channels/:channel_id/messages`; null when nobody serves it. */
  route: string | null;
  body: unknown;
  files: { name: string; filename: string; size: number }[];
  status: number;
  response: unknown;
}

/** All state. Everything else is functions on it. */
export interface World {
  now(): number;
  bot_id: string;
  bot_token: string;
  users: Map<string, User>;
  guilds: Map<string, Guild>;
  channels: Map<string, Channel>;
  /** By channel, then by id, in the order they were written. */
  messages: Map<string, Map<string, Message>>;
  /** By id: what a person alone can see. */
  ephemeral: Map<string, Message>;
  commands: Map<string, Command>;
  interactions: Map<string, Interaction>;
  attachments: Map<string, Attachment>;
  /** `channel:author:nonce` to the message that it made. */
  nonces: Map<string, { message_id: string; at: number }>;
  typing: Map<string, { user_id: string; until: number }>;
  /** Where files are served, without a trailing slash. */
  cdn_url: string;
  last_id: bigint;
  ack_deadline_ms: number;
  events: Signal<BotEvent>;
  changes: Signal<Change>;
}
