import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { Gateway } from "../gateway.ts";
import { platformChannel } from "../routes.ts";
import { showApproval } from "./approvals.ts";
import { createDelivery, DeliveryUnavailable, PlaceGone } from "./delivery.ts";
import { closeForGonePlace } from "./lifecycle.ts";
import { reveal } from "./live_card.ts";
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

type Task = { kind: "frame"; frame: ChannelFrame } | { kind: "progress" } | { kind: "reveal" } | { kind: "deleted"; message_id: string } | { kind: "gone" };

/** A turn without steps gets its card, and with it a Stop button, when it takes longer than this. */
const REVEAL_AFTER_MS = 3000;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;

export function createStage(gateway: Gateway, route: { ws_id: string; channel_id: string }): Stage {
  const { channel_id, beside } = platformChannel(route.channel_id);
  const place = { route_channel_id: route.channel_id, channel_id };
  const scene: Scene = {
    gateway,
    ws_id: route.ws_id,
    ...place,
    kind: beside ? "beside" : "thread",
    delivery: createDelivery(gateway, place),
    turn: null,
    last_asker: null,
    dirty: { answer: false, live: false },
  };
  const tasks: Task[] = [];
  let running = false;
  let dead = false;
  let handled_seq = 0;
  let kind_known = beside;
  let edited_at = 0;
  let timer: NodeJS.Timeout | null = null;

  const push = (task: Task): void => {
    if (dead) return;
    tasks.push(task);
    if (!running) void pump();
  };

  const pump = async (): Promise<void> => {
    running = true;
    try {
      for (let task = tasks.shift(); task !== undefined && !gateway.signal.aborted && !dead; task = tasks.shift()) await persist(task);
    } catch (error) {
      gateway.log.error("stage.failed", { channel_id, error: error as Error });
    } finally {
      running = false;
    }
  };

  /** Does one thing until it is done, the platform refuses it for good, or we stop. */
  const persist = async (task: Task): Promise<void> => {
    for (let delay = RETRY_MS_MIN; !gateway.signal.aborted; delay = Math.min(delay * 2, RETRY_MS_MAX)) {
      try {
        await learnKind();
        await perform(task);
        return;
      } catch (error) {
        if (error instanceof PlaceGone) return leave();
        if (!(error instanceof DeliveryUnavailable)) {
          gateway.log.error("event.not_shown", { channel_id, task: task.kind, error: error as Error });
          return;
        }
        gateway.log.warn("platform.away", { channel_id, error, retry_in_ms: delay });
        // An edit on the way is not worth waiting for: the finished text comes anyway.
        if (task.kind === "progress") return;
        await gateway.clock.sleep(delay, gateway.signal).catch(() => {});
      }
    }
  };

  const perform = async (task: Task): Promise<void> => {
    switch (task.kind) {
      case "frame":
        return performFrame(task.frame);
      case "progress":
        edited_at = gateway.clock.now();
        await presentProgress(scene);
        edited_at = gateway.clock.now();
        scheduleProgress();
        return;
      case "reveal":
        reveal(scene);
        scheduleProgress();
        return;
      case "deleted":
        return showAgain(scene, task.message_id);
      case "gone":
        throw new PlaceGone("It was deleted.");
      default:
        return task satisfies never;
    }
  };

  const performFrame = async (frame: ChannelFrame): Promise<void> => {
    const own_seq = frame.child_ws_id === undefined ? frame.seq : undefined;
    if (own_seq !== undefined && own_seq <= handled_seq && !isForgottenQuestion(scene, frame)) return;
    const began = scene.turn === null;
    await present(scene, frame);
    if (own_seq !== undefined) handled_seq = Math.max(handled_seq, own_seq);
    if (frame.event.type === "turn_ended" && own_seq !== undefined) endTurn();
    if (began && scene.turn !== null) revealLater(scene.turn.seq);
    scheduleProgress();
    if (own_seq !== undefined && scene.turn === null) await acknowledge();
  };

  /** The cursor stands at the end of a turn, so that a gateway that takes over in the middle of one sees it from its beginning. */
  const acknowledge = async (): Promise<void> => {
    const moved = await gateway.server.moveCursor(route.channel_id, { cursor_seq: handled_seq });
    if (moved.ok) gateway.routes.remember(moved.value);
    else gateway.log.warn("cursor.not_moved", { channel_id, status: moved.status });
  };

  const endTurn = (): void => {
    scene.turn = null;
    scene.dirty = { answer: false, live: false };
    scene.delivery.clear();
  };

  const scheduleProgress = (): void => {
    if (timer !== null || dead || (!scene.dirty.answer && !scene.dirty.live)) return;
    const wait = Math.max(0, edited_at + gateway.settings.discord.edit_interval_ms - gateway.clock.now());
    timer = setTimeout(() => {
      timer = null;
      push({ kind: "progress" });
    }, wait);
  };

  const revealLater = (turn_seq: number): void => {
    setTimeout(() => {
      if (scene.turn?.seq === turn_seq && !scene.turn.live_shown) push({ kind: "reveal" });
    }, REVEAL_AFTER_MS).unref();
  };

  const learnKind = async (): Promise<void> => {
    if (kind_known) return;
    const known = await gateway.routes.find(route.channel_id);
    if (!known.ok) throw new DeliveryUnavailable(known.error);
    if (known.value !== null) scene.kind = known.value.kind;
    kind_known = true;
  };

  const leave = async (): Promise<void> => {
    dead = true;
    tasks.length = 0;
    if (timer !== null) clearTimeout(timer);
    const asker = scene.turn?.asker ?? scene.last_asker;
    await closeForGonePlace(gateway, { ...place, ws_id: scene.ws_id, kind: scene.kind, asker });
  };

  return {
    accept(frame) {
      const last = tasks.at(-1);
      if (last?.kind === "frame" && frame.event.type === "content" && last.frame.event.type === "content") {
        tasks[tasks.length - 1] = { kind: "frame", frame: { ...frame, event: { type: "content", text: last.frame.event.text + frame.event.text } } };
        return;
      }
      push({ kind: "frame", frame });
    },
    deleted: (message_id) => push({ kind: "deleted", message_id }),
    gone: () => push({ kind: "gone" }),
    idle: () => !running && tasks.length === 0 && scene.turn === null,
  };
}

/** A question that is told again after a reconnection, and of which this stage does not know. */
function isForgottenQuestion(scene: Scene, { event }: ChannelFrame): boolean {
  if (event.type === "approve_request") return scene.turn?.cycles.has(event.cycle_id) !== true;
  if (event.type === "plan_review") return scene.turn?.reviews.has(event.review_id) !== true;
  return false;
}

async function showAgain(scene: Scene, message_id: string): Promise<void> {
  const shows = scene.delivery.forget(message_id);
  if (shows === null) return;
  const [what = "", id = ""] = shows.split(":");
  if (what === "card") await showApproval(scene, id);
  else if (what === "review") await showReview(scene, id);
}
