import type { Frame } from "../contracts/engine.ts";
import type { WorkstreamRow } from "../contracts/store.ts";
import type { KeptEvent } from "../protocol/event.ts";
import type { HttpDependencies } from "./dependencies.ts";

/** What a sub-agent asks people, and how that ended. */
const QUESTION_TYPES: ReadonlySet<KeptEvent["type"]> = new Set([
  "approve_request",
  "approval_resolved",
  "risk_assessed",
  "plan_review",
  "plan_resolved",
  "mcp_request",
  "mcp_request_resolved",
]);

/**
 * The questions of a workstream's sub-agents, for a reader that shows them: they stand in the sub-agents' own journals,
 * and a reader that was away would else never learn how one ended.
 */
export interface ChildQuestions {
  /** What the sub-agents of these calls asked, by the call; calls that asked nothing are not in it. */
  of(call_ids: readonly string[]): Promise<ReadonlyMap<string, Frame[]>>;
}

export function createChildQuestions(
  { engine, store }: Pick<HttpDependencies, "engine" | "store">,
  ws_id: string,
): ChildQuestions {
  const questionsOf = async (child: WorkstreamRow, parent_call_id: string): Promise<Frame[]> => {
    const entries = await store.journal.read(child.ws_id, 0);
    return entries
      .filter(({ event }) => QUESTION_TYPES.has(event.type))
      .map(({ event, at }) => engine.bus.childFrame(ws_id, event, { ws_id: child.ws_id, parent_call_id }, at));
  };
  return {
    async of(call_ids) {
      const asked = new Map<string, Frame[]>();
      if (call_ids.length === 0) return asked;
      const wanted = new Set(call_ids);
      for (const child of await store.workstreams.children(ws_id)) {
        const call_id = child.parent_call_id;
        if (call_id === null || !wanted.has(call_id)) continue;
        asked.set(call_id, [...(asked.get(call_id) ?? []), ...(await questionsOf(child, call_id))]);
      }
      return asked;
    },
  };
}
