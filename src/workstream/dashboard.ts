import { modelChain } from "../agent/models.ts";
import type { DashboardRow } from "../contracts/engine.ts";
import type { WorkstreamRow } from "../contracts/store.ts";
import type { Workstream } from "./actor.ts";
import type { EngineServices } from "./services.ts";

/** One line of the dashboard; what only a live workstream knows is left empty for one at rest. */
export function dashboardRow(
  row: WorkstreamRow,
  actor: Workstream | undefined,
  services: EngineServices,
): DashboardRow {
  const settings = modelChain(services.models(), row.model_alias)[0];
  const window = settings?.capabilities.context_window ?? 0;
  const { ws_id, name, title, kind, parent_ws_id, user_id } = row;
  const live = actor?.row ?? row;
  return {
    ws_id,
    name,
    title,
    state: live.state,
    kind,
    parent_ws_id,
    user_id,
    tokens: live.context_tokens,
    context_ratio: window === 0 ? 0 : Math.round((live.context_tokens / window) * 1000) / 1000,
    ...activityOf(actor),
    tool_calls: actor?.conversation.tool_calls ?? 0,
    model: settings?.model ?? "",
    model_alias: settings?.alias ?? "",
    queued: actor?.inbox.queued.length ?? 0,
  };
}

function activityOf(actor: Workstream | undefined): Pick<DashboardRow, "activity" | "activity_state"> {
  const turn = actor?.conversation.turn ?? null;
  if (actor === undefined || turn === null) return { activity: "", activity_state: "" };
  const header = turn.batch?.items.find((item) => !turn.results.has(item.call_id))?.header ?? "";
  switch (actor.row.state) {
    case "attention":
      return { activity: header, activity_state: "approval" };
    case "running":
      return { activity: header, activity_state: "tool" };
    case "thinking":
      return { activity: "", activity_state: "thinking" };
    case "idle":
    case "error":
      return { activity: "", activity_state: "" };
  }
}
