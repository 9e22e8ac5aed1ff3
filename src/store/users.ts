import type { TokenRow, UserRow, UserStore } from "../contracts/store.ts";
import type { Memories } from "./memories.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const USER_COLUMNS = ["user_id", "username", "display_name", "password_hash", "scopes", "created"] as const;
const TOKEN_COLUMNS = [
  "token_id",
  "token_hash",
  "token_prefix",
  "user_id",
  "name",
  "scopes",
  "created",
  "expires",
  "revoked",
] as const;
const SETTABLE = ["display_name", "password_hash", "scopes"] as const;
const SELECT_USER = `select ${USER_COLUMNS.join(", ")} from users`;
const SELECT_TOKEN = `select ${TOKEN_COLUMNS.join(", ")} from tokens`;

/** People and their tokens in SQLite. */
export function createUsers(sql: Sql, writer: Writer, memories: Memories): UserStore {
  return {
    create: (row) => writer.write(() => insertUser(sql, row)),
    createFirst: (row) => writer.write(() => countUsers(sql) === 0 && insertUser(sql, row)),
    async get(user_id) {
      return sql.get<UserRow>(`${SELECT_USER} where user_id = @user_id`, { user_id }) ?? null;
    },
    async byUsername(username) {
      return (
        sql.get<UserRow>(`${SELECT_USER} where username = @username`, { username: foldUsername(username) }) ?? null
      );
    },
    async list() {
      return sql.all<UserRow>(`${SELECT_USER} order by username`);
    },
    async count() {
      return countUsers(sql);
    },
    update: (user_id, set) =>
      writer.write(() => {
        const columns = SETTABLE.filter((column) => set[column] !== undefined);
        const assignments = ["user_id = user_id", ...columns.map((column) => `${column} = @${column}`)];
        return sql.run(`update users set ${assignments.join(", ")} where user_id = @user_id`, { ...set, user_id }) > 0;
      }),
    async remove(user_id) {
      await memories.removeOwner("user", user_id);
      return writer.write(() => {
        sql.run("delete from grants where user_id = @user_id", { user_id });
        sql.run("delete from workstream_guests where user_id = @user_id", { user_id });
        sql.run("delete from mcp_credentials where user_id = @user_id", { user_id });
        sql.run("delete from mcp_sign_ins where user_id = @user_id", { user_id });
        return sql.run("delete from users where user_id = @user_id", { user_id }) > 0;
      });
    },
    async endSession({ token_hash, expires, at }) {
      await writer.write(() => {
        // One that has run out is refused for that alone.
        sql.run("delete from ended_sessions where expires < @at", { at });
        sql.run("insert or ignore into ended_sessions (token_hash, expires) values (@token_hash, @expires)", {
          token_hash,
          expires,
        });
      });
    },
    async isSessionEnded(token_hash) {
      return (
        sql.get("select 1 as ended from ended_sessions where token_hash = @token_hash", { token_hash }) !== undefined
      );
    },
    async createToken(row) {
      await writer.write(() => sql.run(insertSql("tokens", TOKEN_COLUMNS), { ...row }));
    },
    async tokenByHash(token_hash) {
      return sql.get<TokenRow>(`${SELECT_TOKEN} where token_hash = @token_hash`, { token_hash }) ?? null;
    },
    async listTokens(user_id) {
      const where = user_id === undefined ? "" : "where user_id = @user_id";
      return sql.all<TokenRow>(`${SELECT_TOKEN} ${where} order by token_number`, { user_id: user_id ?? null });
    },
    revokeToken: (token_id, at) =>
      writer.write(
        () =>
          sql.run("update tokens set revoked = @at where token_id = @token_id and revoked is null", { token_id, at }) >
          0,
      ),
  };
}

/** Names that look alike are alike: one case, one Unicode form. */
function foldUsername(username: string): string {
  return username.normalize("NFC").toLowerCase();
}

function countUsers(sql: Sql): number {
  return sql.get<{ count: number }>("select count(*) as count from users")?.count ?? 0;
}

function insertUser(sql: Sql, row: UserRow): boolean {
  const values = { ...row, username: foldUsername(row.username) };
  return sql.run(`${insertSql("users", USER_COLUMNS)} on conflict do nothing`, values) > 0;
}
