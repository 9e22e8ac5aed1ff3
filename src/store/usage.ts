import type { UsageRow, UsageStore } from "../contracts/store.ts";
import { insertSql, type Sql } from "./sql.ts";

const COLUMNS = [
  "ws_id",
  "user_id",
  "model_alias",
  "at",
  "prompt_tokens",
  "completion_tokens",
  "cache_read_tokens",
  "cache_creation_tokens",
  "cost_usd",
] as const;

interface UsageTotal {
  prompt_tokens: number;
  completion_tokens: number;
  cost_usd: number;
}

/** What model calls used, in SQLite. It outlives the workstreams it counts. */
export function createUsage(sql: Sql): UsageStore {
  return {
    async total(filter) {
      const conditions = [
        "at >= @since",
        ...(filter.user_id === undefined ? [] : ["user_id = @user_id"]),
        ...(filter.ws_id === undefined ? [] : ["ws_id = @ws_id"]),
      ];
      const total = sql.get<UsageTotal>(
        `select coalesce(sum(prompt_tokens), 0) as prompt_tokens,
           coalesce(sum(completion_tokens), 0) as completion_tokens,
           coalesce(sum(cost_usd), 0.0) as cost_usd
         from usage where ${conditions.join(" and ")}`,
        { ...filter },
      );
      return total ?? { prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 };
    },
  };
}

/** Adds what one model call used. */
export function insertUsage(sql: Sql, usage: UsageRow): void {
  sql.run(insertSql("usage", COLUMNS), { ...usage });
}
