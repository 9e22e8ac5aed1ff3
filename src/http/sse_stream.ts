import type { Frame, LiveSnapshot } from "../contracts/engine.ts";
import { createJournalFollower, type FollowerDependencies } from "./journal_follower.ts";
import type { SseConnection } from "./sse_hub.ts";

/** Where a reader wants to go on. `resync`: it named a place that is none; it is told so and starts afresh. */
export type StreamStart = { from: "present" } | { from: "entry"; after: number } | { from: "resync"; cursor: number };

/** An id longer than this is no `seq` of ours. */
const LAST_EVENT_ID = /^\d{1,15}$/;

/** What `Last-Event-ID`, or the query where there is no such header, asks for. */
export function streamStart(last_event_id: string | undefined, last_seq: number): StreamStart {
  if (last_event_id === undefined || last_event_id === "") return { from: "present" };
  const after = LAST_EVENT_ID.test(last_event_id) ? Number(last_event_id) : Number.NaN;
  return after <= last_seq ? { from: "entry", after } : { from: "resync", cursor: last_seq };
}

/** Which workstream is read, from where on, and by whom; null where nobody is named. */
export interface StreamRequest {
  ws_id: string;
  start: StreamStart;
  user_id: string | null;
}

/**
 * Streams one workstream to one reader until either ends. Resolves when the stream is live or over; false when the
 * workstream was gone before anything was answered.
 */
export async function streamWorkstream(
  dependencies: FollowerDependencies,
  connect: () => SseConnection,
  { ws_id, start, user_id }: StreamRequest,
): Promise<boolean> {
  const { bus } = dependencies.engine;
  // The head is sent only when the reader's place is fixed: whatever a client does after it has to reach it.
  let connection: SseConnection | undefined;
  const early: Buffer[] = [];
  const write = (bytes: Buffer): unknown => (connection === undefined ? early.push(bytes) : connection.write(bytes));
  const open = (): SseConnection => {
    connection ??= connect();
    for (const bytes of early.splice(0)) connection.write(bytes);
    return connection;
  };

  const follower = createJournalFollower(dependencies, {
    ws_id,
    after: start.from === "entry" ? start.after : null,
    deliver: (frame) => write(frame.bytes()),
    ready: () => open().ready(),
    isClosed: () => connection?.closed ?? false,
  });
  const unsubscribe = bus.subscribe(ws_id, follower.push, user_id);
  try {
    if (start.from === "resync") write(bus.ephemeralFrame(ws_id, { type: "resync", cursor: start.cursor }).bytes());
    const live = await follower.goLive((snapshot) => {
      for (const bytes of presentFrames(dependencies, ws_id, snapshot, start.from === "entry")) write(bytes);
    });
    if (live) {
      open().onClose(unsubscribe);
    } else {
      unsubscribe();
      connection?.close();
    }
    return live || connection !== undefined;
  } catch (error) {
    unsubscribe();
    connection?.close();
    throw error;
  }
}

function presentFrames(
  { engine: { bus } }: FollowerDependencies,
  ws_id: string,
  snapshot: LiveSnapshot,
  resumed: boolean,
): Buffer[] {
  const { state, model, model_alias, skip_permissions, in_progress, pending } = snapshot;
  const opening = resumed
    ? []
    : [bus.ephemeralFrame(ws_id, { type: "connected", model, model_alias, skip_permissions }).bytes()];
  // A sub-agent's question has no place in this journal, so no replay brings it.
  const asked = pending.filter((frame) => !resumed || frame.seq === null).map(withoutId);
  const now = [
    bus.ephemeralFrame(ws_id, { type: "state_change", state }).bytes(),
    bus.ephemeralFrame(ws_id, { type: "ws_state", ws_id, state }).bytes(),
  ];
  const text =
    in_progress === null ? [] : [bus.ephemeralFrame(ws_id, { type: "in_progress_snapshot", ...in_progress }).bytes()];
  return [...opening, ...asked, ...now, ...text];
}

/** A question that is put again is not the reader's place in the journal, so it comes without its id. */
function withoutId(frame: Frame): Buffer {
  const bytes = frame.bytes();
  return frame.seq === null ? bytes : bytes.subarray(bytes.indexOf("\n") + 1);
}
