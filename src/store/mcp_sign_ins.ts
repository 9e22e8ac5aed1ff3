import type { McpSignInRow, McpSignInStore } from "../contracts/mcp_sign_in.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const COLUMNS = ["state_hash", "server", "user_id", "payload", "expires"] as const;

/** Sign-ins of people to MCP servers, in SQLite. */
export function createMcpSignIns(sql: Sql, writer: Writer): McpSignInStore {
  const begun = (state_hash: string): McpSignInRow | null =>
    sql.get<McpSignInRow>(`select ${COLUMNS.join(", ")} from mcp_sign_ins where state_hash = @state_hash`, {
      state_hash,
    }) ?? null;
  return {
    async credential(server, user_id) {
      const row = sql.get<{ payload: string }>(
        "select payload from mcp_credentials where server = @server and user_id = @user_id",
        { server, user_id },
      );
      return row?.payload ?? null;
    },
    keepCredential: (row) =>
      writer.write(() => {
        sql.run(
          `insert into mcp_credentials (server, user_id, payload, updated) values (@server, @user_id, @payload, @updated)
           on conflict (server, user_id) do update set payload = excluded.payload, updated = excluded.updated`,
          { ...row },
        );
      }),
    dropCredential: (server, user_id) =>
      writer.write(
        () =>
          sql.run("delete from mcp_credentials where server = @server and user_id = @user_id", { server, user_id }) > 0,
      ),
    async people(server) {
      const rows = sql.all<{ user_id: string }>(
        "select user_id from mcp_credentials where server = @server and user_id <> '' order by updated desc",
        { server },
      );
      return rows.map(({ user_id }) => user_id);
    },
    begin: (row, { at, open_max }) =>
      writer.write(() => {
        sql.run("delete from mcp_sign_ins where expires <= @at", { at });
        const { user_id } = row;
        const open =
          sql.get<{ open: number }>("select count(*) as open from mcp_sign_ins where user_id = @user_id", { user_id })
            ?.open ?? 0;
        if (open >= open_max) return false;
        sql.run(insertSql("mcp_sign_ins", COLUMNS), { ...row });
        return true;
      }),
    begun: async (state_hash) => begun(state_hash),
    take: (state_hash) =>
      writer.write(() => {
        const row = begun(state_hash);
        sql.run("delete from mcp_sign_ins where state_hash = @state_hash", { state_hash });
        return row;
      }),
  };
}
