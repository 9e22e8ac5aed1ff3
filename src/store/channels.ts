import type { ChannelStore } from "../contracts/store.ts";
import type { ChannelLink, ChannelRoute, PostedMessage } from "../protocol/channel.ts";
import { createChannelMarks } from "./channel_marks.ts";
import { createClosings, forgetClosing } from "./closings.ts";
import { insertSql, type Sql, type SqlRecord } from "./sql.ts";
import type { Writer } from "./writer.ts";

const LINK_COLUMNS = ["channel_type", "channel_user_id", "user_id", "scopes", "created"] as const;
const ROUTE_COLUMNS = [
  "channel_type",
  "channel_id",
  "ws_id",
  "kind",
  "guild_id",
  "parent_channel_id",
  "last_inbound_id",
  "cursor_seq",
  "created",
] as const;
const POSTED_COLUMNS = ["channel_type", "channel_id", "message_id", "ws_id", "shows", "part", "created"] as const;

const SELECT_LINK = `
  select l.channel_type, l.channel_user_id, l.user_id, u.username, u.display_name, l.scopes, l.created
  from channel_links l join users u on u.user_id = l.user_id`;
const SELECT_ROUTE = `select ${ROUTE_COLUMNS.map((column) => `r.${column}`).join(", ")} from channel_routes r`;
const SELECT_POSTED = `select ${POSTED_COLUMNS.join(", ")} from posted_messages`;

/** Platform ids are numbers in text: the longer one is the later one, and of two alike in length the greater. */
const MOVE_CURSOR = `update channel_routes set
    cursor_seq = max(cursor_seq, coalesce(@cursor_seq, cursor_seq)),
    last_inbound_id = case
      when @last_inbound_id is null then last_inbound_id
      when last_inbound_id is null then @last_inbound_id
      when (length(@last_inbound_id), @last_inbound_id) > (length(last_inbound_id), last_inbound_id)
        then @last_inbound_id
      else last_inbound_id end
  where channel_type = @channel_type and channel_id = @channel_id
  returning ${ROUTE_COLUMNS.join(", ")}`;

type LinkMethods = Pick<ChannelStore, "link" | "unlink" | "linkOf" | "linksOfUser" | "listLinks">;
type PostedMethods = Pick<ChannelStore, "savePosted" | "posted" | "postedShowing" | "lastPosted">;
type ProgressMethods = Pick<ChannelStore, "closings" | "closingTold" | "marks" | "moveMarks">;
type RouteMethods = Omit<ChannelStore, keyof LinkMethods | keyof PostedMethods | keyof ProgressMethods>;

/** Links, routes, cursors and posted messages in SQLite. */
export function createChannels(sql: Sql, writer: Writer): ChannelStore {
  return {
    ...createLinks(sql, writer),
    ...createRoutes(sql, writer),
    ...createPosted(sql, writer),
    ...createClosings(sql, writer),
    ...createChannelMarks(sql, writer),
  };
}

function createLinks(sql: Sql, writer: Writer): LinkMethods {
  return {
    link: (link) =>
      writer.write(() => {
        const insert = insertSql("channel_links", LINK_COLUMNS);
        return sql.run(`${insert} on conflict (channel_type, channel_user_id) do nothing`, link) > 0;
      }),
    unlink: (channel_type, channel_user_id) =>
      writer.write(() => {
        const text =
          "delete from channel_links where channel_type = @channel_type and channel_user_id = @channel_user_id";
        return sql.run(text, { channel_type, channel_user_id }) > 0;
      }),
    async linkOf(channel_type, channel_user_id) {
      const where = "where l.channel_type = @channel_type and l.channel_user_id = @channel_user_id";
      return sql.get<ChannelLink>(`${SELECT_LINK} ${where}`, { channel_type, channel_user_id }) ?? null;
    },
    async linksOfUser(user_id) {
      const rest = "where l.user_id = @user_id order by l.created desc, l.link_number desc";
      return sql.all<ChannelLink>(`${SELECT_LINK} ${rest}`, { user_id });
    },
    async listLinks() {
      return sql.all<ChannelLink>(`${SELECT_LINK} order by l.created desc, l.link_number desc`);
    },
  };
}

function createRoutes(sql: Sql, writer: Writer): RouteMethods {
  const select = (rest: string, values: SqlRecord): ChannelRoute[] =>
    sql.all<ChannelRoute>(`${SELECT_ROUTE} ${rest}`, values);
  const find = (channel_type: string, channel_id: string): ChannelRoute | null =>
    select("where r.channel_type = @channel_type and r.channel_id = @channel_id", { channel_type, channel_id })[0] ??
    null;
  return {
    createRoute: (route) =>
      writer.write(() => {
        const text = `${insertSql("channel_routes", ROUTE_COLUMNS)} on conflict (channel_type, channel_id) do nothing`;
        sql.run(text, { ...route });
        return find(route.channel_type, route.channel_id) ?? route;
      }),
    async route(channel_type, channel_id) {
      return find(channel_type, channel_id);
    },
    async routesOfWorkstream(ws_id) {
      return select("where r.ws_id = @ws_id order by r.created, r.channel_id", { ws_id });
    },
    async listRoutes(channel_type) {
      return select("where r.channel_type = @channel_type order by r.created, r.channel_id", { channel_type });
    },
    async routesBehind(channel_type) {
      const rest = `join workstreams w on w.ws_id = r.ws_id
        where r.channel_type = @channel_type and w.last_seq > r.cursor_seq order by r.created, r.channel_id`;
      return select(rest, { channel_type });
    },
    removeRoute: (channel_type, channel_id) =>
      writer.write(() => {
        forgetClosing(sql, channel_type, channel_id);
        const text = "delete from channel_routes where channel_type = @channel_type and channel_id = @channel_id";
        return sql.run(text, { channel_type, channel_id }) > 0;
      }),
    moveCursor: (channel_type, channel_id, { cursor_seq = null, last_inbound_id = null }) =>
      writer.write(
        () => sql.get<ChannelRoute>(MOVE_CURSOR, { channel_type, channel_id, cursor_seq, last_inbound_id }) ?? null,
      ),
  };
}

function createPosted(sql: Sql, writer: Writer): PostedMethods {
  return {
    async savePosted(message) {
      const text = `${insertSql("posted_messages", POSTED_COLUMNS)} on conflict (channel_type, channel_id, shows, part)
        do update set message_id = @message_id, ws_id = @ws_id, created = @created`;
      await writer.write(() => sql.run(text, { ...message }));
    },
    async posted(channel_type, message_id) {
      const rest =
        "where channel_type = @channel_type and message_id = @message_id order by posted_number desc limit 1";
      return sql.get<PostedMessage>(`${SELECT_POSTED} ${rest}`, { channel_type, message_id }) ?? null;
    },
    async postedShowing(channel_type, ws_id, shows) {
      const rest = "where ws_id = @ws_id and shows = @shows and channel_type = @channel_type order by channel_id, part";
      return sql.all<PostedMessage>(`${SELECT_POSTED} ${rest}`, { channel_type, ws_id, shows });
    },
    async lastPosted(channel_type, channel_id) {
      const rest = `where channel_type = @channel_type and channel_id = @channel_id
        order by length(message_id) desc, message_id desc limit 1`;
      return sql.get<PostedMessage>(`${SELECT_POSTED} ${rest}`, { channel_type, channel_id }) ?? null;
    },
  };
}
