import type { Change, WorkstreamRow } from "../contracts/store.ts";
import type { ModelAnswer } from "./model_call.ts";
import { costOf } from "./models.ts";

/**
 * The row that counts what one model call used, for the person whose workstream it is; the writer fills in the time.
 */
export function usageChange(
  { ws_id, user_id }: Readonly<WorkstreamRow>,
  { settings, usage }: Pick<ModelAnswer, "settings" | "usage">,
): Change {
  const { prompt_tokens, completion_tokens, cache_read_tokens = 0, cache_creation_tokens = 0 } = usage;
  const cost_usd = costOf(settings, usage) ?? null;
  const counts = { prompt_tokens, completion_tokens, cache_read_tokens, cache_creation_tokens, cost_usd };
  return { kind: "usage_added", usage: { ws_id, user_id, model_alias: settings.alias, at: "", ...counts } };
}
