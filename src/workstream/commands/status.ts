import { startOfUtcDay, utcDay } from "../../lib/clock.ts";
import type { Workstream } from "../actor.ts";
import { budgetState, isLimited, usedText } from "../budget.ts";
import { dashboardRow } from "../dashboard.ts";
import type { Command } from "./command.ts";

/** Where this workstream stands. */
export const status: Command = {
  name: "status",
  usage: "/status",
  summary: "shows where this workstream stands",
  personal: () => true,
  async run({ actor, by }) {
    const row = dashboardRow(actor.row, actor, actor.services);
    const lines = [
      `Workstream ${row.ws_id} (${row.title ?? row.name})`,
      `State: ${row.state}${row.activity === "" ? "" : `, ${row.activity}`}`,
      `Model: ${row.model_alias} (${row.model})`,
      `Context: ${row.tokens} tokens, ${Math.round(row.context_ratio * 1000) / 10} % of the window`,
      `Folder: ${actor.surroundings.workspace.root}`,
      `Messages waiting: ${row.queued}`,
      // How much the owner uses elsewhere is nobody else's business.
      ...(actor.row.user_id === null || actor.row.user_id === by.user_id ? [await usageToday(actor)] : []),
    ];
    return lines.join("\n");
  },
};

/** What the person whose workstream it is used since midnight UTC, all workstreams and sub-agents together. */
async function usageToday({ row: { user_id, ws_id }, services }: Workstream): Promise<string> {
  const since = startOfUtcDay(utcDay(services.clock));
  const whose = user_id === null ? { ws_id } : { user_id };
  const { prompt_tokens, completion_tokens, cost_usd } = await services.store.usage.total({ ...whose, since });
  const cost = cost_usd === 0 ? "" : `, ${cost_usd.toFixed(4)} USD where prices are known`;
  const budget = { ...services, budget: services.settings.budget };
  const limit = user_id === null || !isLimited(budget.budget) ? null : usedText(await budgetState(budget, user_id));
  const of = limit === null ? "" : ` (budget: ${limit})`;
  return `Used today (UTC): ${prompt_tokens} tokens read, ${completion_tokens} written${cost}${of}`;
}
