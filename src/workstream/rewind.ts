import type { EngineFailure } from "../contracts/engine.ts";
import type { DecidedBy } from "../protocol/approval.ts";
import type { Workstream } from "./actor.ts";

const BUSY: EngineFailure = {
  ok: false,
  reason: "busy",
  error: "A turn is running; stop it first, or wait until it ends.",
};
const NOTHING: EngineFailure = {
  ok: false,
  reason: "invalid",
  error: "There is no earlier turn in this conversation.",
};

/** Takes the last turns out of what the model sees. What they did to files stays done. */
export function rewind(actor: Workstream, turns: number): Promise<{ ok: true; turns: number } | EngineFailure> {
  return actor.serial(async () => {
    if (actor.is_busy) return BUSY;
    const { turn_starts } = actor.conversation;
    const taken = Math.min(turns, turn_starts.length);
    const first = turn_starts.at(-taken);
    if (taken === 0 || first === undefined) return NOTHING;
    await actor.append({
      entries: [{ event: { type: "rewound", kept_after_seq: first - 1, turns: taken } }],
      state: "idle",
    });
    return { ok: true, turns: taken };
  });
}

/**
 * Runs the last turn again from what people said in it. Whoever wants that counts as one of them: words of somebody for
 * whom more runs unasked must not serve them.
 */
export function retryTurn(actor: Workstream, by: DecidedBy): Promise<{ ok: true } | EngineFailure> {
  return actor.serial(async () => {
    if (actor.is_busy) return BUSY;
    const first = actor.conversation.turn_starts.at(-1);
    if (first === undefined) return NOTHING;
    const entries = await actor.services.store.journal.read(actor.row.ws_id, first - 1);
    const said = entries.filter((entry) => entry.event.type === "user_turn");
    const again = said.map(({ event, private: kept }) => ({ event, private: { ...kept, retried_by: by.user_id } }));
    const rewound = { event: { type: "rewound" as const, kept_after_seq: first - 1, turns: 1 } };
    await actor.append({ entries: [rewound, ...again], state: "thinking", turn_open: true });
    actor.start();
    return { ok: true };
  });
}
