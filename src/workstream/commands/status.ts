import { dashboardRow } from "../dashboard.ts";
import type { Command } from "./command.ts";

/** Where this workstream stands. */
export const status: Command = {
  name: "status",
  usage: "/status",
  summary: "shows where this workstream stands",
  run({ actor }) {
    const row = dashboardRow(actor.row, actor, actor.services);
    const lines = [
      `Workstream ${row.ws_id} (${row.title ?? row.name})`,
      `State: ${row.state}${row.activity === "" ? "" : `, ${row.activity}`}`,
      `Model: ${row.model_alias} (${row.model})`,
      `Context: ${row.tokens} tokens, ${Math.round(row.context_ratio * 1000) / 10} % of the window`,
      `Folder: ${actor.surroundings.workspace.root}`,
      `Messages waiting: ${row.queued}`,
    ];
    return Promise.resolve(lines.join("\n"));
  },
};
