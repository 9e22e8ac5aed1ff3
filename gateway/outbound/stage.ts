import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { Gateway } from "../gateway.ts";
import { platformChannel } from "../routes.ts";
import { showApproval } from "./approvals.ts";
import { createDelivery, DeliveryUnavailable, PlaceGone } from "./delivery.ts";
import { closeForGonePlace } from "./lifecycle.ts";
import { reveal } from "./live_card.ts";
import { showMcpRequest } from "./mcp_requests.ts";
import { present, presentProgress } from "./present.ts";
import { showReview } from "./reviews.ts";
import type { Scene } from "./scene.ts";

/** One place and all that is shown in it, one thing after another. */
export interface Stage {
  accept(frame: ChannelFrame): void;
  /** A message of ours was deleted by somebody: a question that is still open is asked again. */
  deleted(message_id: string): void;
  /** The place is gone. */
  gone(): void;
  idle(): boolean;
}

type Task =
  | { kind: "frame"; frame: ChannelFrame }
  | { kind: "progress" }
  | { kind: "reveal" }
  | { kind: "deleted"; message_id: string }
  | { kind: "gone" };

/** A turn without steps gets its card, and with it a Stop button, when it takes longer than this. */
const REVEAL_AFTER_MS = 3000;
/** The figures of a finished answer come within this time, and then one edit shows both. */
const FIGURES_WAIT_MS = 200;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;

export function createStage(gateway: Gateway, route: { ws_id: string; channel_id: string }): Stage {
  return new PlaceStage(gateway, route);
}

class PlaceStage implements Stage {
  readonly #gateway: Gateway;
  readonly #scene: Scene;
  readonly #tasks: Task[] = [];
  #running = false;
  #dead = false;
  #handled_seq = 0;
  /** Where the last turn ended: nothing up to there is asked any more. */
  #ended_seq = 0;
  #kind_known: boolean;
  #edited_at = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(gateway: Gateway, route: { ws_id: string; channel_id: string }) {
    const { channel_id, beside } = platformChannel(route.channel_id);
    const place = { route_channel_id: route.channel_id, channel_id };
    this.#gateway = gateway;
    this.#kind_known = beside;
    this.#scene = {
      gateway,
      ws_id: route.ws_id,
      ...place,
      kind: beside ? "beside" : "thread",
      delivery: createDelivery(gateway, place),
      turn: null,
      last_asker: null,
      dirty: { answer: false, live: false },
    };
  }

  accept(frame: ChannelFrame): void {
    const last = this.#tasks.at(-1);
    // Text that waits is one piece, however many pieces it came in.
    if (last?.kind === "frame" && frame.event.type === "content" && last.frame.event.type === "content") {
      const text = last.frame.event.text + frame.event.text;
      this.#tasks[this.#tasks.length - 1] = { kind: "frame", frame: { ...frame, event: { type: "content", text } } };
      return;
    }
    this.#push({ kind: "frame", frame });
  }

  deleted(message_id: string): void {
    this.#push({ kind: "deleted", message_id });
  }

  gone(): void {
    this.#push({ kind: "gone" });
  }

  idle(): boolean {
    return !this.#running && this.#tasks.length === 0 && this.#scene.turn === null;
  }

  #push(task: Task): void {
    if (this.#dead) return;
    this.#tasks.push(task);
    if (!this.#running) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#running = true;
    try {
      while (!this.#gateway.signal.aborted && !this.#dead) {
        const task = this.#tasks.shift();
        if (task === undefined) break;
        await this.#persist(task);
      }
    } catch (error) {
      this.#gateway.log.error("stage.failed", { channel_id: this.#scene.channel_id, error });
    } finally {
      this.#running = false;
    }
  }

  /** Does one thing until it is done, the platform refuses it for good, or we stop. */
  async #persist(task: Task): Promise<void> {
    const { signal, log, clock } = this.#gateway;
    const { channel_id } = this.#scene;
    for (let delay = RETRY_MS_MIN; !signal.aborted; delay = Math.min(delay * 2, RETRY_MS_MAX)) {
      try {
        await this.#learnKind();
        await this.#perform(task);
        return;
      } catch (error) {
        if (error instanceof PlaceGone) return this.#leave();
        if (!(error instanceof DeliveryUnavailable)) {
          log.error("event.not_shown", { channel_id, task: task.kind, error });
          return;
        }
        log.warn("platform.away", { channel_id, error, retry_in_ms: delay });
        // An edit on the way is not worth waiting for: the finished text comes anyway.
        if (task.kind === "progress") return this.#tryProgressLater();
        await clock.sleep(delay, signal).catch(() => {});
      }
    }
  }

  async #perform(task: Task): Promise<void> {
    switch (task.kind) {
      case "frame":
        return this.#performFrame(task.frame);
      case "progress":
        await presentProgress(this.#scene);
        this.#edited_at = this.#gateway.clock.now();
        return this.#scheduleProgress();
      case "reveal":
        reveal(this.#scene);
        return this.#scheduleProgress();
      case "deleted":
        return showAgain(this.#scene, task.message_id);
      case "gone":
        throw new PlaceGone("It was deleted.");
      default:
        return task satisfies never;
    }
  }

  async #performFrame(frame: ChannelFrame): Promise<void> {
    const scene = this.#scene;
    const own_seq = frame.child_ws_id === undefined ? frame.seq : undefined;
    if (own_seq !== undefined && own_seq <= this.#handled_seq && !this.#isNews(frame, own_seq)) return;
    // Each turn begins with its message: without a turn, what a sub-agent did is told again after the end.
    if (own_seq === undefined && frame.child_ws_id !== undefined && scene.turn === null && this.#ended_seq > 0) return;
    const began = scene.turn === null;
    await present(scene, frame);
    if (own_seq !== undefined) this.#handled_seq = Math.max(this.#handled_seq, own_seq);
    if (frame.event.type === "turn_ended" && own_seq !== undefined) this.#endTurn(own_seq);
    if (began && scene.turn !== null) this.#revealLater(scene.turn.seq);
    this.#scheduleProgress();
    if (own_seq !== undefined && scene.turn === null) await this.#acknowledge();
  }

  /** The cursor stands at the end of a turn, so that a gateway that takes over in the middle of one sees all of it. */
  async #acknowledge(): Promise<void> {
    const { server, routes, log } = this.#gateway;
    const moved = await server.moveCursor(this.#scene.route_channel_id, { cursor_seq: this.#handled_seq });
    if (moved.ok) routes.remember(moved.value);
    else log.warn("cursor.not_moved", { channel_id: this.#scene.channel_id, status: moved.status });
  }

  /** Whether a frame that comes again after a reconnection says something about a question of the open turn. */
  #isNews(frame: ChannelFrame, own_seq: number): boolean {
    return own_seq > this.#ended_seq && concernsOpenQuestion(this.#scene, frame);
  }

  #endTurn(seq: number): void {
    this.#ended_seq = seq;
    this.#scene.turn = null;
    this.#scene.dirty = { answer: false, live: false };
    this.#scene.delivery.clear();
  }

  #scheduleProgress(): void {
    const { dirty } = this.#scene;
    if (this.#timer !== null || this.#dead || (!dirty.answer && !dirty.live)) return;
    const { clock, settings } = this.#gateway;
    const pace = this.#edited_at + settings.discord.edit_interval_ms - clock.now();
    const wait = Math.max(pace, this.#isUnfinished() ? FIGURES_WAIT_MS : 0);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#push({ kind: "progress" });
    }, wait);
  }

  #isUnfinished(): boolean {
    return (this.#scene.turn?.unfinished ?? null) !== null;
  }

  /** The end of an answer comes with an edit on the way when steps follow it. */
  #tryProgressLater(): void {
    this.#edited_at = this.#gateway.clock.now();
    this.#scene.dirty.answer ||= this.#isUnfinished();
    this.#scheduleProgress();
  }

  #revealLater(turn_seq: number): void {
    const timer = setTimeout(() => {
      const { turn } = this.#scene;
      if (turn?.seq === turn_seq && !turn.live_shown) this.#push({ kind: "reveal" });
    }, REVEAL_AFTER_MS);
    timer.unref();
  }

  async #learnKind(): Promise<void> {
    if (this.#kind_known) return;
    const known = await this.#gateway.routes.find(this.#scene.route_channel_id);
    if (!known.ok) throw new DeliveryUnavailable(known.error);
    if (known.value !== null) this.#scene.kind = known.value.kind;
    this.#kind_known = true;
  }

  async #leave(): Promise<void> {
    this.#dead = true;
    this.#tasks.length = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { route_channel_id, ws_id, kind, turn, last_asker } = this.#scene;
    await closeForGonePlace(this.#gateway, { route_channel_id, ws_id, kind, asker: turn?.asker ?? last_asker });
  }
}

/** A question that this stage does not know, or the answer to one that it shows as open. */
function concernsOpenQuestion(scene: Scene, { event }: ChannelFrame): boolean {
  const { cycles, reviews, mcp_requests } = scene.turn ?? { cycles: null, reviews: null, mcp_requests: null };
  switch (event.type) {
    case "approve_request":
      return cycles?.has(event.cycle_id) !== true;
    case "plan_review":
      return reviews?.has(event.review_id) !== true;
    case "approval_resolved": {
      const decisions = cycles?.get(event.cycle_id)?.decisions;
      return decisions !== undefined && event.call_ids.some((call_id) => !decisions.has(call_id));
    }
    case "plan_resolved":
      return reviews?.get(event.review_id)?.decision === null;
    case "mcp_request":
      return mcp_requests?.has(event.request_id) !== true;
    case "mcp_request_resolved":
      return mcp_requests?.get(event.request_id)?.decision === null;
    case "tool_result":
      return [...(mcp_requests?.values() ?? [])].some(
        ({ call_id, decision }) => call_id === event.call_id && decision === null,
      );
    default:
      return false;
  }
}

async function showAgain(scene: Scene, message_id: string): Promise<void> {
  const shows = scene.delivery.forget(message_id);
  if (shows === null) return;
  const [what = "", id = ""] = shows.split(":");
  if (what === "card") await showApproval(scene, id);
  else if (what === "review") await showReview(scene, id);
  else if (what === "mcp") await showMcpRequest(scene, id);
}
