import type { ChannelRoute } from "../../src/protocol/channel.ts";
import { isAllowed } from "../allowed.ts";
import type { HistoryEntry, InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { workstreamIdFor } from "./conversation.ts";
import type { HeardMarks } from "./heard.ts";
import { platformChannel } from "../routes.ts";

export interface CatchUpSteps {
  handle(message: InboundMessage): Promise<void>;
  /** Runs the work at its place in an order. */
  run(key: string, work: () => Promise<void>): Promise<void>;
}

/** More than people write while we are away; what lies beyond is logged, since it is not read. */
const MESSAGES_PER_PLACE_MAX = 10_000;
/** Each costs a request, and only those with something new are asked. */
const DIRECT_PLACES_MAX = 50;
const CHANNELS_MAX = 50;

/**
 * Reads what people wrote while no gateway was connected: in each place that shows a workstream, after the last message
 * that was handled, and mentions in channels. Resolves when each place's work is in its queue; new messages wait
 * behind.
 */
export async function catchUp(gateway: Gateway, heard: HeardMarks, steps: CatchUpSteps): Promise<void> {
  const routes = await gateway.server.routes();
  if (!routes.ok) {
    gateway.log.warn("catch_up.no_routes", { status: routes.status });
    return;
  }
  const begun = new Set(routes.value.routes.filter(isBegun).map(({ channel_id }) => channel_id));
  const newest_first = routes.value.routes.toSorted((one, other) => (one.created < other.created ? 1 : -1));
  let direct = 0;
  for (const route of newest_first) {
    if (platformChannel(route.channel_id).beside) continue;
    const news = gateway.adapter.hasNewer(route.channel_id, route.last_inbound_id ?? route.channel_id);
    // An archived thread is not known here, and has nothing new: a message would have opened it again.
    if (news === "no" || (news === "unknown" && route.kind === "thread")) continue;
    if (news === "unknown" && (direct += 1) > DIRECT_PLACES_MAX) continue;
    void steps.run(route.channel_id, () => readPlace(gateway, steps, route));
  }
  await heard.load();
  for (const { channel_id } of gateway.adapter
    .openChannels()
    .filter((place) => isAllowed(gateway.settings.discord, place))
    .slice(0, CHANNELS_MAX)) {
    const reading = heard.reading(channel_id);
    if (gateway.adapter.hasNewer(channel_id, reading.after) !== "yes") reading.read(null);
    else void steps.run(`mentions:${channel_id}`, () => readMentions(gateway, steps, { channel_id, begun, reading }));
  }
}

async function readPlace(gateway: Gateway, steps: CatchUpSteps, route: ChannelRoute): Promise<void> {
  const place = await gateway.adapter.place(route.channel_id);
  if (!place.ok || !isAllowed(gateway.settings.discord, place.value)) return;
  const { entries } = await readHistory(gateway, route.channel_id, route.last_inbound_id ?? route.channel_id);
  for (const { message } of entries) if (message !== null) await steps.handle(message);
}

/** Whole where nothing is missing in it. */
interface ReadHistory {
  entries: HistoryEntry[];
  is_whole: boolean;
}

async function readHistory({ adapter, log }: Gateway, channel_id: string, after: string): Promise<ReadHistory> {
  const history = await adapter.history(channel_id, after, MESSAGES_PER_PLACE_MAX);
  if (!history.ok) {
    log.warn("catch_up.no_history", { channel_id, reason: history.reason, detail: history.detail });
    return { entries: [], is_whole: false };
  }
  const is_whole = history.value.length < MESSAGES_PER_PLACE_MAX;
  if (!is_whole) log.warn("catch_up.cut", { channel_id, after });
  return { entries: history.value, is_whole };
}

/** Whether a conversation's first message was accepted. */
export function isBegun({ last_inbound_id }: ChannelRoute): boolean {
  return last_inbound_id !== null;
}

/** Where mentions are looked for. Threads that were begun when we came cost no question more: a day has many. */
interface MentionSearch {
  channel_id: string;
  begun: ReadonlySet<string>;
  reading: ReturnType<HeardMarks["reading"]>;
}

/** Mentions that have neither a thread nor an answer of ours. */
async function readMentions(gateway: Gateway, steps: CatchUpSteps, search: MentionSearch): Promise<void> {
  const { channel_id, begun, reading } = search;
  const { entries, is_whole } = await readHistory(gateway, channel_id, reading.after);
  const answered = new Set(entries.filter((entry) => entry.ours).map((entry) => entry.reply_to_id));
  for (const entry of entries) {
    if (entry.message?.mentions_us !== true || answered.has(entry.message_id)) continue;
    if (!begun.has(entry.message.thread_id ?? "")) await handleMention(gateway, steps, entry);
  }
  if (is_whole) reading.read(entries.at(-1)?.message_id ?? null);
}

/** Whether a mention without a thread had one, which somebody has deleted with the answer. */
async function wasAnswered({ server, adapter }: Gateway, message: InboundMessage): Promise<boolean> {
  const ws_id = workstreamIdFor(adapter.channel_type, message.id);
  const history = await server.history(message.author, ws_id, 1);
  return history.ok && history.value.messages.length > 0;
}

async function handleMention(gateway: Gateway, steps: CatchUpSteps, { message }: HistoryEntry): Promise<void> {
  if (message === null) return;
  if (message.thread_id !== null) {
    const route = await gateway.routes.refresh(message.thread_id);
    // The thread is ours and its first message was accepted: there is nothing left to do.
    if (!route.ok || (route.value !== null && isBegun(route.value))) return;
  } else if (await wasAnswered(gateway, message)) return;
  await steps.run(message.id, () => steps.handle(message));
}
