import type { Store } from "../contracts/store.ts";
import { type Clock, DAY_MS, startOfUtcDay, utcDay } from "../lib/clock.ts";
import type { ErrorEvent } from "../protocol/event.ts";

/** What the workstreams of one person may use in a day (UTC), sub-agents included; 0 for no limit. */
export interface DailyBudget {
  /** Tokens read and written. */
  tokens_per_day: number;
  /** Only models whose prices are known cost something. */
  cost_usd_per_day: number;
}

export interface BudgetDependencies {
  store: Pick<Store, "usage" | "budgets" | "users">;
  clock: Clock;
  budget: DailyBudget;
}

/** Where a person stands today. */
export interface BudgetState {
  /** The day in UTC, such as `2026-01-31`. */
  day: string;
  tokens: number;
  cost_usd: number;
  /** With what was allowed beyond the budget; 0 for no limit. */
  tokens_allowed: number;
  cost_usd_allowed: number;
  /** How often more was allowed today. */
  extensions: number;
  used_up: boolean;
}

/** Whether there is any limit at all. */
export function isLimited({ tokens_per_day, cost_usd_per_day }: DailyBudget): boolean {
  return tokens_per_day > 0 || cost_usd_per_day > 0;
}

export async function budgetState(dependencies: BudgetDependencies, user_id: string): Promise<BudgetState> {
  const { store, clock, budget } = dependencies;
  const day = utcDay(clock);
  const [used, extensions] = await Promise.all([
    store.usage.total({ user_id, since: startOfUtcDay(day) }),
    store.budgets.extensions(user_id, day),
  ]);
  const tokens = used.prompt_tokens + used.completion_tokens;
  const tokens_allowed = budget.tokens_per_day * (1 + extensions);
  const cost_usd_allowed = budget.cost_usd_per_day * (1 + extensions);
  const used_up =
    (tokens_allowed > 0 && tokens >= tokens_allowed) || (cost_usd_allowed > 0 && used.cost_usd >= cost_usd_allowed);
  return { day, tokens, cost_usd: used.cost_usd, tokens_allowed, cost_usd_allowed, extensions, used_up };
}

/**
 * What a turn ends with whose person has used up the day's budget; null while there is something left. It is asked before
 * each model call, so that a running one is never cut: the last call may go beyond.
 */
export async function budgetError(
  dependencies: BudgetDependencies,
  user_id: string | null,
): Promise<ErrorEvent | null> {
  if (user_id === null || !isLimited(dependencies.budget)) return null;
  const state = await budgetState(dependencies, user_id);
  if (!state.used_up) return null;
  const user = await dependencies.store.users.get(user_id);
  return {
    type: "error",
    code: "budget_used_up",
    message:
      `${user?.display_name ?? "This person"} has used up today's budget: ${usedText(state)}. ` +
      `It starts anew at midnight UTC, or an admin allows as much again today; then say "continue".`,
    retry_at: new Date(Date.parse(startOfUtcDay(state.day)) + DAY_MS).toISOString(),
    budget: { user_id, day: state.day, extension: state.extensions + 1 },
  };
}

/** What was used of what is allowed, such as `203,112 of 200,000 tokens`. */
export function usedText(state: BudgetState): string {
  const parts = [
    ...(state.tokens_allowed > 0 ? [`${grouped(state.tokens)} of ${grouped(state.tokens_allowed)} tokens`] : []),
    ...(state.cost_usd_allowed > 0 ? [`${state.cost_usd.toFixed(2)} of ${state.cost_usd_allowed.toFixed(2)} USD`] : []),
  ];
  return parts.join(", ");
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
