import type { BudgetStore } from "../contracts/budget.ts";
import { insertSql, type Sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const COLUMNS = ["user_id", "day", "extension", "granted_by", "at"] as const;

/** Extensions of people's budgets, in SQLite. */
export function createBudgets(sql: Sql, writer: Writer): BudgetStore {
  const count = (user_id: string, day: string): number =>
    sql.get<{ extensions: number }>(
      "select count(*) as extensions from budget_extensions where user_id = @user_id and day = @day",
      { user_id, day },
    )?.extensions ?? 0;
  return {
    extensions: async (user_id, day) => count(user_id, day),
    extend: (row) =>
      writer.write(() => {
        if (count(row.user_id, row.day) !== row.extension - 1) return false;
        sql.run(insertSql("budget_extensions", COLUMNS), { ...row });
        return true;
      }),
  };
}
