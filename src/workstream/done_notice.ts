import type { EndedTurn } from "../agent/conversation.ts";
import { sha256 } from "../lib/ids.ts";
import type { LiveWorkstream } from "./live_workstream.ts";

/** People stay for shorter turns; a message about each would only be noise. */
export const LONG_TURN_MS = 300_000;

/** Nobody waits for a notice; its delivery by one gateway has limits of its own below this. */
const DELIVERY_TIMEOUT_MS = 480_000;

/** What ended longer ago is no news: nobody waits for a notice that a server was down for so long. */
export const NEWS_MS = 15 * 60_000;

/**
 * Tells people by DM that a turn has ended: whoever asked for it while it ran, and the owner of a long one where
 * `notify.on_done` says so. Once each: a notice has the same id however often it is tried.
 */
export function tellOfEnd(actor: LiveWorkstream): void {
  const { row, conversation, services } = actor;
  const { ended } = conversation;
  // What ended before this process began may have been told by the one before, which the notice's id finds out.
  if (ended === null || row.kind !== "main" || services.clock.now() - Date.parse(ended.at) > NEWS_MS) return;
  for (const user_id of listeners(actor, ended)) {
    if (ended.told.has(user_id)) continue;
    ended.told.add(user_id);
    tell(actor, user_id, ended).catch((error: unknown) => {
      services.log.warn("done_notice.failed", { ws_id: row.ws_id, error });
    });
  }
}

function listeners({ row, services }: LiveWorkstream, ended: EndedTurn): ReadonlySet<string> {
  const is_long = ended.duration_ms >= LONG_TURN_MS && ended.outcome !== "cancelled";
  if (!services.settings.tell_owner_when_done || !is_long || row.user_id === null) return ended.asked_by;
  return new Set([...ended.asked_by, row.user_id]);
}

async function tell({ row, services }: LiveWorkstream, user_id: string, ended: EndedTurn): Promise<void> {
  const user = await services.store.users.get(user_id);
  if (user === null) return;
  const { seq: turn_seq, outcome, duration_ms } = ended;
  const how = outcome === "done" ? "has finished" : "has ended without finishing";
  await services.deliver({
    notification_id: sha256(`done:${row.ws_id}:${turn_seq}:${user_id}`).slice(0, 32),
    ws_id: row.ws_id,
    turn_seq,
    call_id: `done:${turn_seq}:${user_id}`,
    target: { username: user.username },
    message: `"${row.title ?? row.name}" ${how} after ${inWords(duration_ms)}. Answer here to go on.`,
    signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
  });
}

function inWords(duration_ms: number): string {
  const minutes = Math.round(duration_ms / 60_000);
  if (minutes === 0) return "less than a minute";
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
