import type { Engine, Frame, LiveSnapshot } from "../contracts/engine.ts";
import type { Store } from "../contracts/store.ts";
import type { EphemeralEvent } from "../protocol/event.ts";
import { type ChildQuestions, createChildQuestions } from "./child_questions.ts";

/** Entries read at once: enough to be quick, few enough to wait for a slow reader in between. */
const PAGE_ENTRIES = 200;

/** Frames that wait while the past is replayed. Beyond it they are dropped and read from the journal instead. */
const WAITING_FRAMES_MAX = 1000;

/** How often the present is tried for when frames come faster than it can be read. */
const ATTEMPTS_MAX = 5;

export interface FollowerDependencies {
  engine: Engine;
  store: Store;
}

export interface FollowerRequest {
  ws_id: string;
  /** The last entry that the reader has; null starts with the present. */
  after: number | null;
  /** Whether the reader shows what sub-agents ask, and must learn how each question ended. */
  with_questions?: boolean;
  deliver(frame: Frame): void;
  /** Resolves when the reader can take more. */
  ready(): Promise<void>;
  isClosed(): boolean;
}

/** Follows one workstream for one reader: what was, what is, what comes, with no gap and no double. */
export interface JournalFollower {
  /** Takes a live frame. Subscribe before anything else is called. */
  readonly push: (frame: Frame) => void;
  /** Delivers all entries after the last one delivered. */
  catchUp(): Promise<void>;
  /**
   * Catches up, hands the present to `present` and from then on delivers frames as they come. False when the
   * workstream is gone or the present could not be had.
   */
  goLive(present: (snapshot: LiveSnapshot) => void): Promise<boolean>;
}

export function createJournalFollower(dependencies: FollowerDependencies, request: FollowerRequest): JournalFollower {
  const { engine, store } = dependencies;
  let last_seq = request.after;
  let live = false;
  let overflowed = false;
  let waiting: Frame[] = [];
  let last_model_call_id: string | null = null;
  const questions = request.with_questions === true ? createChildQuestions(dependencies, request.ws_id) : null;

  const deliver = (frame: Frame): void => {
    if (frame.seq !== null) {
      if (last_seq !== null && frame.seq <= last_seq) return;
      last_seq = frame.seq;
      if (frame.event.type === "assistant") last_model_call_id = frame.event.model_call_id;
    }
    request.deliver(frame);
  };

  const follower: JournalFollower = {
    push(frame) {
      if (live) return deliver(frame);
      waiting.push(frame);
      if (waiting.length <= WAITING_FRAMES_MAX) return;
      waiting = [];
      overflowed = true;
    },

    async catchUp() {
      if (last_seq === null) return;
      for (let full = true; full && !request.isClosed();) {
        const page = await store.journal.read(request.ws_id, last_seq, PAGE_ENTRIES);
        const results = page.flatMap(({ event }) => (event.type === "tool_result" ? [event.call_id] : []));
        const asked = await questions?.of(results);
        for (const entry of page) {
          // Before the call's result, which ends all that its sub-agents asked.
          const before = entry.event.type === "tool_result" ? asked?.get(entry.event.call_id) : undefined;
          for (const frame of before ?? []) deliver(frame);
          deliver(engine.bus.replayFrame(entry));
        }
        full = page.length === PAGE_ENTRIES;
        if (full) await request.ready();
      }
    },

    async goLive(present) {
      for (let attempt = 0; attempt < ATTEMPTS_MAX && !request.isClosed(); attempt += 1) {
        overflowed = false;
        await follower.catchUp();
        const open = questions === null ? [] : await openQuestions(engine, questions, request.ws_id);
        const asked_at = waiting.length;
        const snapshot = await engine.snapshot(request.ws_id);
        if (snapshot === null || request.isClosed()) return false;
        if (overflowed) continue;
        const told = waiting.slice(0, presentIndex(waiting, asked_at, snapshot));
        const untold = waiting.slice(told.length);
        last_seq ??= snapshot.last_seq;
        for (const frame of open) deliver(frame);
        for (const frame of told) if (frame.seq !== null || isChildStep(frame)) deliver(frame);
        present(withoutReplayed(snapshot, last_model_call_id));
        waiting = [];
        live = true;
        for (const frame of untold) deliver(frame);
        return true;
      }
      return false;
    },
  };
  return follower;
}

/** What sub-agents that are at work have asked so far, answered or not. */
async function openQuestions(engine: Engine, questions: ChildQuestions, ws_id: string): Promise<Frame[]> {
  const snapshot = await engine.snapshot(ws_id);
  return snapshot === null ? [] : [...(await questions.of(snapshot.open_call_ids)).values()].flat();
}

/**
 * How many of the waiting frames the snapshot tells already: all that came before it was asked for, and of those that
 * came while it was made, as many as its text ends with.
 */
function presentIndex(waiting: readonly Frame[], asked_at: number, snapshot: LiveSnapshot): number {
  const { in_progress } = snapshot;
  if (in_progress === null) return asked_at;
  for (let index = waiting.length; index > asked_at; index -= 1) {
    const content = textSinceStart(waiting.slice(0, index), "content");
    const reasoning = textSinceStart(waiting.slice(0, index), "reasoning");
    const some = content !== "" || reasoning !== "";
    if (some && in_progress.content.endsWith(content) && in_progress.reasoning.endsWith(reasoning)) return index;
  }
  return asked_at;
}

/** The text that the frames add to the model call that runs at their end. */
function textSinceStart(frames: readonly Frame[], type: "content" | "reasoning"): string {
  const start = frames.findLastIndex((frame) => startsText(frame.event));
  return frames
    .slice(start + 1)
    .map(({ event, child }) => (event.type === type && child === null ? event.text : ""))
    .join("");
}

function startsText(event: Frame["event"] | EphemeralEvent): boolean {
  return event.type === "thinking_start" || event.type === "stream_restart" || event.type === "assistant";
}

/** What waits for a person. */
const ASKS: ReadonlySet<Frame["event"]["type"]> = new Set(["approve_request", "plan_review", "mcp_request"]);

/** A sub-agent's step is in no journal that is replayed here. What still waits for a person is in the snapshot. */
function isChildStep({ child, event }: Frame): boolean {
  return child !== null && !ASKS.has(event.type);
}

/** Text whose finished entry was replayed is not shown again as running. */
function withoutReplayed(snapshot: LiveSnapshot, model_call_id: string | null): LiveSnapshot {
  return snapshot.in_progress?.model_call_id === model_call_id ? { ...snapshot, in_progress: null } : snapshot;
}
