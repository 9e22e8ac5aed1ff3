import type { Frame } from "../contracts/engine.ts";
import type { JournalEntry, WorkstreamRow } from "../contracts/store.ts";
import type { KeptEvent } from "../protocol/event.ts";
import type { HttpDependencies } from "./dependencies.ts";

/** What a sub-agent asks people, and how that ended. */
const QUESTION_TYPES: ReadonlySet<KeptEvent["type"]> = new Set([
  "approve_request",
  "approval_resolved",
  "risk_assessed",
  "plan_review",
  "plan_resolved",
]);

/**
 * The questions of a workstream's sub-agents, for a reader that shows them: they stand in the sub-agents' own journals, and
 * a reader that was away would else never learn how one ended.
 */
export interface ChildQuestions {
  /** What was asked by the sub-agents of a call, if this entry is its result. */
  before(entry: JournalEntry): Promise<Frame[]>;
  /** What was asked by the sub-agents of these calls. */
  of(call_ids: readonly string[]): Promise<Frame[]>;
}

export function createChildQuestions(
  { engine, store }: Pick<HttpDependencies, "engine" | "store">,
  ws_id: string,
): ChildQuestions {
  const questionsOf = async ({ ws_id: child, parent_call_id }: WorkstreamRow): Promise<Frame[]> => {
    const entries = await store.journal.read(child, 0);
    return entries
      .filter(({ event }) => QUESTION_TYPES.has(event.type))
      .map(({ event, at }) => {
        const about = { ws_id: child, parent_call_id: parent_call_id ?? "" };
        return engine.bus.childFrame(ws_id, event, about, at);
      });
  };
  const of = async (call_ids: readonly string[]): Promise<Frame[]> => {
    if (call_ids.length === 0) return [];
    const frames: Frame[] = [];
    for (const child of await store.workstreams.children(ws_id)) {
      if (call_ids.includes(child.parent_call_id ?? "")) frames.push(...(await questionsOf(child)));
    }
    return frames;
  };
  return { of, before: ({ event }) => of(event.type === "tool_result" ? [event.call_id] : []) };
}
