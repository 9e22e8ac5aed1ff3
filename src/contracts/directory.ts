import type { ChannelLink, ChannelMark, ChannelRoute, PostedMessage } from "../protocol/channel.ts";
import type { JsonObject } from "../protocol/json.ts";

/** Who there is: people and their credentials, where they are reached, and which gateways are up. */

export interface UserRow {
  user_id: string;
  /** Lower case; unique. */
  username: string;
  display_name: string;
  password_hash: string | null;
  /** Comma-separated: the most that any credential of this person grants. */
  scopes: string;
  created: string;
}

export interface TokenRow {
  token_id: string;
  token_hash: string;
  /** The first 8 characters, to recognise it by. */
  token_prefix: string;
  user_id: string;
  name: string;
  scopes: string;
  created: string;
  expires: string | null;
  revoked: string | null;
}

export interface UserStore {
  /** False when the name is taken. */
  create(row: UserRow): Promise<boolean>;
  /** Creates the first user, or answers false when there is one: one transaction. */
  createFirst(row: UserRow): Promise<boolean>;
  get(user_id: string): Promise<UserRow | null>;
  byUsername(username: string): Promise<UserRow | null>;
  list(): Promise<UserRow[]>;
  count(): Promise<number>;
  update(user_id: string, set: Partial<Pick<UserRow, "display_name" | "password_hash" | "scopes">>): Promise<boolean>;
  /** With tokens, links and grants. */
  remove(user_id: string): Promise<boolean>;
  createToken(row: TokenRow): Promise<void>;
  tokenByHash(token_hash: string): Promise<TokenRow | null>;
  listTokens(user_id?: string): Promise<TokenRow[]>;
  revokeToken(token_id: string, at: string): Promise<boolean>;
  /** Ends a session before it runs out; those that had run out by `at` are forgotten. */
  endSession(session: { token_hash: string; expires: string; at: string }): Promise<void>;
  isSessionEnded(token_hash: string): Promise<boolean>;
}

export interface ChannelStore {
  /** False when that platform user is linked already. */
  link(link: {
    channel_type: string;
    channel_user_id: string;
    user_id: string;
    scopes: string;
    created: string;
  }): Promise<boolean>;
  unlink(channel_type: string, channel_user_id: string): Promise<boolean>;
  linkOf(channel_type: string, channel_user_id: string): Promise<ChannelLink | null>;
  /** Newest first. */
  linksOfUser(user_id: string): Promise<ChannelLink[]>;
  listLinks(): Promise<ChannelLink[]>;
  /** Inserts, or answers the row that is there. */
  createRoute(route: ChannelRoute): Promise<ChannelRoute>;
  route(channel_type: string, channel_id: string): Promise<ChannelRoute | null>;
  routesOfWorkstream(ws_id: string): Promise<ChannelRoute[]>;
  listRoutes(channel_type: string): Promise<ChannelRoute[]>;
  /** Routes with entries that are not shown yet. */
  routesBehind(channel_type: string): Promise<ChannelRoute[]>;
  /** With what the place was to be told. */
  removeRoute(channel_type: string, channel_id: string): Promise<boolean>;
  /** Places that were not told yet that their conversation is over, oldest first. */
  closings(channel_type: string): Promise<ClosingRow[]>;
  /** False where the place is to be told of another closing by now, or of none. */
  closingTold(channel_type: string, channel_id: string, closed: string): Promise<boolean>;
  /** Forward only; answers what holds now. */
  moveCursor(
    channel_type: string,
    channel_id: string,
    to: { cursor_seq?: number; last_inbound_id?: string },
  ): Promise<ChannelRoute | null>;
  /** Up to where channels without a route were heard. */
  marks(channel_type: string): Promise<ChannelMark[]>;
  /** Forward only. */
  moveMarks(channel_type: string, marks: readonly ChannelMark[], at: string): Promise<void>;
  /** Remembers a message of ours; the same `shows` and `part` in a channel overwrites. */
  savePosted(message: PostedMessage): Promise<void>;
  posted(channel_type: string, message_id: string): Promise<PostedMessage | null>;
  postedShowing(channel_type: string, ws_id: string, shows: string): Promise<PostedMessage[]>;
  /** The newest message of ours in a channel. */
  lastPosted(channel_type: string, channel_id: string): Promise<PostedMessage | null>;
}

/** A place that must be told that its conversation was closed, or removed with all that belonged to it. */
export interface ClosingRow {
  channel_type: string;
  channel_id: string;
  ws_id: string;
  name: string;
  closed: string;
  removed: boolean;
  /** Of a removed one: messages in this place whose buttons nobody answers any more. */
  leftovers: string[];
}

export interface ServiceRow {
  service_type: string;
  service_id: string;
  url: string;
  metadata: JsonObject;
  last_heartbeat: string;
  created: string;
}

export interface ServiceStore {
  heartbeat(row: Omit<ServiceRow, "created">): Promise<void>;
  remove(service_type: string, service_id: string): Promise<boolean>;
  /** Heartbeat not older than `since`; newest first. */
  healthy(service_type: string, since: string): Promise<ServiceRow[]>;
}
