import type { Frame, GlobalFrame, LiveSnapshot } from "../contracts/engine.ts";
import type { ClosingRow } from "../contracts/store.ts";
import { encodeSseFrame } from "../lib/sse.ts";
import type { ChannelControlFrame, ChannelFrame, ChannelRoute } from "../protocol/channel.ts";
import type { EphemeralEvent } from "../protocol/event.ts";
import { createJournalFollower, type FollowerDependencies, type JournalFollower } from "./journal_follower.ts";
import type { RouteChange, RouteChanges } from "./route_changes.ts";
import type { SseConnection } from "./sse_hub.ts";

export interface ChannelStreamDependencies extends FollowerDependencies {
  changes: RouteChanges;
  node_id: string;
  /** Called with what a route could not be followed for. */
  readonly report: (error: unknown) => void;
}

/** The reason of a `ws_closed` after which nothing can be opened again. */
const REMOVED = "deleted";

/** One route that this stream follows. */
interface Feed {
  route: ChannelRoute;
  follower: JournalFollower;
  removed: boolean;
}

/** Feeds of one workstream, or the frames that came while its routes were looked up. */
type Entry = { kind: "looking"; waiting: Frame[] } | { kind: "feeds"; feeds: Feed[] };

/** Workstreams that are known to be shown nowhere. Forgotten all at once when there are more. */
const UNROUTED_MAX = 10_000;

/** For how long "shown nowhere" is believed: another process may have made a route. */
const UNROUTED_MS = 5000;

/**
 * Titles that are told again at a connection: of conversations that were busy in the last hour, the newest of them.
 * Each costs the gateway one look at its thread.
 */
const TITLES_SINCE_MS = 3_600_000;
const TITLES_MAX = 64;

/**
 * Streams every workstream that is shown on one platform to a gateway: what each place has missed, then what comes.
 * Resolves when everything missed has been sent.
 */
export async function streamChannel(
  dependencies: ChannelStreamDependencies,
  connection: SseConnection,
  channel_type: string,
): Promise<void> {
  const stream = new ChannelStream(dependencies, connection, channel_type);
  connection.onClose(stream.subscribe());
  await stream.start();
}

class ChannelStream {
  readonly #dependencies: ChannelStreamDependencies;
  readonly #connection: SseConnection;
  readonly #channel_type: string;
  readonly #entries = new Map<string, Entry>();
  readonly #unrouted = new Map<string, number>();
  /** Workstreams with news while the past was sent. */
  readonly #touched = new Set<string>();
  #caught_up = false;

  constructor(dependencies: ChannelStreamDependencies, connection: SseConnection, channel_type: string) {
    this.#dependencies = dependencies;
    this.#connection = connection;
    this.#channel_type = channel_type;
  }

  subscribe(): () => void {
    const { engine, changes } = this.#dependencies;
    const unsubscribes = [
      engine.bus.subscribeAll((frame) => this.#onFrame(frame)),
      engine.bus.subscribeGlobal((frame) => this.#onGlobal(frame)),
      changes.subscribe((change) => this.#onChange(change)),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }

  async start(): Promise<void> {
    const { store, node_id } = this.#dependencies;
    writeJson(this.#connection, { control: "hello", node_id });
    const behind = await store.channels.routesBehind(this.#channel_type);
    const feeds: Feed[] = [];
    for (const ws_id of new Set(behind.map((route) => route.ws_id))) feeds.push(...(await this.#follow(ws_id)));
    for (const feed of feeds) {
      await feed.follower.catchUp();
      await this.#connection.ready();
    }
    if (this.#connection.closed) return;
    writeJson(this.#connection, { control: "caught_up" });
    this.#caught_up = true;
    await Promise.all(feeds.map((feed) => this.#goLive(feed)));
    // Whoever is in the middle of a turn, though nothing of it was missed: its cards and running text are told again.
    const running = (await store.workstreams.unfinished()).map((workstream) => workstream.ws_id);
    for (const ws_id of new Set([...this.#touched, ...running])) this.#followNow(ws_id);
    await this.#tellTitles();
    for (const closing of await store.channels.closings(this.#channel_type)) writeClosing(this.#connection, closing);
  }

  /** A title is no entry of a journal, so that no cursor says whether a place has got it. */
  async #tellTitles(): Promise<void> {
    const since = new Date(Date.now() - TITLES_SINCE_MS).toISOString();
    for (const { ws_id, title } of await this.#dependencies.store.workstreams.restingSince(since, TITLES_MAX)) {
      if (title !== null) await this.#tellPlaces({ ws_id, event: { type: "ws_rename", ws_id, name: title } });
    }
  }

  #onFrame(frame: Frame): void {
    const entry = this.#entries.get(frame.ws_id);
    if (entry?.kind === "looking") entry.waiting.push(frame);
    else if (entry?.kind === "feeds") for (const feed of entry.feeds) feed.follower.push(frame);
    else if (!this.#caught_up) this.#touched.add(frame.ws_id);
    else if (Date.now() - (this.#unrouted.get(frame.ws_id) ?? 0) > UNROUTED_MS) {
      this.#followNow(frame.ws_id);
      this.#onFrame(frame);
    }
  }

  #onGlobal(frame: GlobalFrame): void {
    const { ws_id, event } = frame;
    if (event.type === "ws_rename") this.#tellPlaces(frame).catch((error: unknown) => this.#fail(error));
    else if (event.type === "ws_closed") {
      this.#tellClosing(ws_id, event.reason).catch((error: unknown) => this.#fail(error));
    }
  }

  async #tellClosing(ws_id: string, reason: string): Promise<void> {
    const closings = await this.#dependencies.store.channels.closings(this.#channel_type);
    for (const closing of closings) {
      if (closing.ws_id === ws_id) writeClosing(this.#connection, { ...closing, removed: reason === REMOVED });
    }
  }

  async #tellPlaces({ ws_id, event }: Pick<GlobalFrame, "ws_id" | "event">): Promise<void> {
    for (const route of await this.#routesOf(ws_id)) writeJson(this.#connection, { ...placeOf(route), event });
  }

  #onChange({ kind, route }: RouteChange): void {
    if (route.channel_type !== this.#channel_type) return;
    this.#unrouted.delete(route.ws_id);
    if (kind === "removed") this.#drop(route);
    else if (this.#caught_up) this.#followNow(route.ws_id);
    else this.#touched.add(route.ws_id);
  }

  #followNow(ws_id: string): void {
    this.#followLive(ws_id).catch((error: unknown) => this.#fail(error));
  }

  async #followLive(ws_id: string): Promise<void> {
    const feeds = await this.#follow(ws_id);
    await Promise.all(feeds.map((feed) => this.#goLive(feed)));
  }

  /** Makes a feed for each place of a workstream that has none yet. */
  async #follow(ws_id: string): Promise<Feed[]> {
    const looking: Entry = { kind: "looking", waiting: [] };
    if (!this.#entries.has(ws_id)) this.#entries.set(ws_id, looking);
    const routes = await this.#routesOf(ws_id);
    const known = this.#entries.get(ws_id);
    const before = known?.kind === "feeds" ? known.feeds : [];
    const added = routes
      .filter((route) => !before.some((feed) => feed.route.channel_id === route.channel_id))
      .map((route) => this.#newFeed(route));
    const waiting = known?.kind === "looking" ? known.waiting : [];
    for (const feed of added) for (const frame of waiting) feed.follower.push(frame);
    const feeds = [...before, ...added];
    if (feeds.length > 0) this.#entries.set(ws_id, { kind: "feeds", feeds });
    else this.#forget(ws_id);
    return added;
  }

  #forget(ws_id: string): void {
    this.#entries.delete(ws_id);
    if (this.#unrouted.size >= UNROUTED_MAX) this.#unrouted.clear();
    this.#unrouted.set(ws_id, Date.now());
  }

  async #routesOf(ws_id: string): Promise<ChannelRoute[]> {
    const routes = await this.#dependencies.store.channels.routesOfWorkstream(ws_id);
    return routes.filter((route) => route.channel_type === this.#channel_type);
  }

  #newFeed(route: ChannelRoute): Feed {
    const connection = this.#connection;
    const place = { route, removed: false };
    const follower = createJournalFollower(this.#dependencies, {
      ws_id: route.ws_id,
      after: route.cursor_seq,
      with_questions: true,
      deliver: (frame) => writeFrame(connection, feed, frame),
      ready: () => connection.ready(),
      isClosed: () => connection.closed || feed.removed,
    });
    const feed: Feed = Object.assign(place, { follower });
    return feed;
  }

  async #goLive(feed: Feed): Promise<void> {
    try {
      const live = await feed.follower.goLive((snapshot) => writePresent(this.#connection, feed, snapshot));
      if (!live) this.#drop(feed.route);
    } catch (error) {
      this.#fail(error);
    }
  }

  #drop(route: ChannelRoute): void {
    const entry = this.#entries.get(route.ws_id);
    if (entry?.kind !== "feeds") return;
    for (const feed of entry.feeds) if (feed.route.channel_id === route.channel_id) feed.removed = true;
    entry.feeds = entry.feeds.filter((feed) => !feed.removed);
    if (entry.feeds.length === 0) this.#entries.delete(route.ws_id);
  }

  /** A gateway that comes back goes on at its cursors, which is better than a stream with a hole. */
  #fail(error: unknown): void {
    this.#dependencies.report(error);
    this.#connection.close();
  }
}

/** As it is told live, or again to a gateway that was away. */
function writeClosing(connection: SseConnection, closing: ClosingRow): void {
  const { ws_id, channel_id, name, closed, removed, leftovers } = closing;
  const reason = removed ? REMOVED : "closed";
  writeJson(connection, {
    ws_id,
    channel_id,
    at: closed,
    ...(leftovers.length === 0 ? {} : { leftovers }),
    event: { type: "ws_closed", ws_id, name, reason },
  });
}

function placeOf(route: ChannelRoute): { ws_id: string; channel_id: string } {
  return { ws_id: route.ws_id, channel_id: route.channel_id };
}

function writeFrame(connection: SseConnection, { route, removed }: Feed, frame: Frame): void {
  if (removed) return;
  const { seq, at, child, event } = frame;
  writeJson(connection, {
    ...placeOf(route),
    ...(seq === null ? {} : { seq }),
    ...(at === null ? {} : { at }),
    ...(child === null ? {} : { child_ws_id: child.ws_id, parent_call_id: child.parent_call_id }),
    event,
  });
}

/** What holds now: state, text that streams, and questions that the replay did not hold. */
function writePresent(connection: SseConnection, feed: Feed, snapshot: LiveSnapshot): void {
  const { ws_id, cursor_seq } = feed.route;
  const { state, in_progress, pending } = snapshot;
  for (const frame of pending) {
    if (frame.seq === null || frame.seq <= cursor_seq) writeFrame(connection, feed, frame);
  }
  const events: EphemeralEvent[] = [
    { type: "state_change", state },
    { type: "ws_state", ws_id, state },
  ];
  if (in_progress !== null) events.push({ type: "in_progress_snapshot", ...in_progress });
  for (const event of events) writeJson(connection, { ...placeOf(feed.route), event });
}

function writeJson(connection: SseConnection, frame: ChannelFrame | ChannelControlFrame): void {
  connection.write(encodeSseFrame(JSON.stringify(frame), null));
}
