import { modelChain } from "../agent/models.ts";
import { undecidedCalls } from "../agent/projection.ts";
import type { Frame, LiveSnapshot } from "../contracts/engine.ts";
import type { JournalEntry } from "../contracts/store.ts";
import type { Workstream } from "./actor.ts";
import { queuedEvent } from "./inbox.ts";

/**
 * What a stream starts with: the present state, the running text, what waits for a person here and in sub-agents, and
 * the messages that wait for the turn.
 */
export function snapshotOf(actor: Workstream, children: readonly Workstream[]): LiveSnapshot {
  const settings = modelChain(actor.services.models(), actor.row.model_alias)[0];
  const stream = actor.stream.current;
  return {
    state: actor.row.state,
    model: settings?.model ?? "",
    model_alias: settings?.alias ?? "",
    skip_permissions: actor.services.settings.skip_permissions,
    in_progress: stream === null ? null : { ...stream },
    pending: [
      ...pendingOf(actor, false),
      ...children.flatMap((child) => pendingOf(child, true)),
      ...actor.inbox.queued.map((row) => actor.services.bus.ephemeralFrame(actor.row.ws_id, queuedEvent(row))),
    ],
    open_call_ids: openCallIds(actor),
    last_seq: actor.conversation.last_seq,
  };
}

function openCallIds({ conversation: { turn } }: Workstream): string[] {
  return turn === null ? [] : turn.open_calls.flatMap(({ id }) => (turn.results.has(id) ? [] : [id]));
}

function pendingOf(actor: Workstream, as_child: boolean): Frame[] {
  const { bus } = actor.services;
  const { ws_id, parent_ws_id, parent_call_id } = actor.row;
  return pendingEntries(actor).map((entry) => {
    if (!as_child || parent_ws_id === null || parent_call_id === null) return bus.replayFrame(entry);
    return bus.childFrame(parent_ws_id, entry.event, { ws_id, parent_call_id });
  });
}

/** The entries behind what waits for a person. */
function pendingEntries({ conversation }: Workstream): JournalEntry[] {
  const batch = conversation.turn?.batch ?? null;
  const approval = batch !== null && undecidedCalls(batch).length > 0 ? [batch.entry] : [];
  return [...approval, ...conversation.open_reviews.values(), ...conversation.open_mcp_requests.values()];
}
