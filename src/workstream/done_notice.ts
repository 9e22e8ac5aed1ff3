import type { Frame, Unsubscribe } from "../contracts/engine.ts";
import type { Store } from "../contracts/store.ts";
import { sha256 } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { TurnOutcome } from "../protocol/workstream.ts";
import type { Bus } from "./bus.ts";
import type { EngineServices } from "./services.ts";

/** People stay for shorter turns; a message about each would only be noise. */
export const LONG_TURN_MS = 300_000;

/** Nobody waits for a notice; its delivery has limits of its own below this. */
const DELIVERY_TIMEOUT_MS = 300_000;

export interface DoneNoticeParts {
  bus: Bus;
  store: Pick<Store, "workstreams" | "users">;
  deliver: EngineServices["deliver"];
  log: Log;
}

/** Tells a person once, by DM, that a long turn of theirs has ended. */
export function tellWhenDone(parts: DoneNoticeParts): Unsubscribe {
  const durations = new Map<string, number>();
  return parts.bus.subscribeAll((frame: Frame) => {
    if (frame.child !== null || frame.seq === null) return;
    const { ws_id, event, seq } = frame;
    if (event.type === "status") durations.set(ws_id, event.duration_ms);
    if (event.type !== "turn_ended") return;
    const duration_ms = durations.get(ws_id) ?? 0;
    durations.delete(ws_id);
    if (duration_ms < LONG_TURN_MS || event.outcome === "cancelled") return;
    tell(parts, ws_id, seq, event.outcome, duration_ms).catch((error: unknown) => {
      parts.log.warn("done_notice.failed", { ws_id, error });
    });
  });
}

async function tell(
  { store, deliver }: DoneNoticeParts,
  ws_id: string,
  turn_seq: number,
  outcome: TurnOutcome,
  duration_ms: number,
): Promise<void> {
  const row = await store.workstreams.get(ws_id);
  if (row === null || row.kind !== "main" || row.user_id === null) return;
  const user = await store.users.get(row.user_id);
  if (user === null) return;
  const minutes = Math.round(duration_ms / 60_000);
  const how = outcome === "done" ? "has finished" : "has ended without finishing";
  await deliver({
    notification_id: sha256(`done:${ws_id}:${turn_seq}`).slice(0, 32),
    ws_id,
    turn_seq,
    call_id: `done:${turn_seq}`,
    target: { username: user.username },
    message: `"${row.title ?? row.name}" ${how} after ${minutes} minutes. Answer here to go on.`,
    signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
  });
}
