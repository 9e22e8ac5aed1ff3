/** More of a day's budget for one person. */
export interface BudgetExtensionRow {
  user_id: string;
  /** In UTC, such as `2026-01-31`. */
  day: string;
  /** Counts a person's extensions of that day from 1. */
  extension: number;
  granted_by: string | null;
  at: string;
}

export interface BudgetStore {
  /** How often more was allowed on that day. */
  extensions(user_id: string, day: string): Promise<number>;
  /** Answers false where this extension is not the next one, as when somebody else was faster. */
  extend(row: BudgetExtensionRow): Promise<boolean>;
}
