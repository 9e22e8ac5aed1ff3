import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { EphemeralEvent, ToolInfoEvent, ToolResultEvent, ToolStartedEvent } from "../../src/protocol/event.ts";
import { liveCard } from "../render/live.ts";
import { turnOf, type Scene } from "./scene.ts";
import { addTools, liveStateOf, setTool } from "./turn.ts";

type QueueEvent = Extract<EphemeralEvent, { type: "message_queued" | "message_withdrawn" }>;
type ChunkEvent = Extract<EphemeralEvent, { type: "tool_output_chunk" }>;

/** Discord takes only few edits of a message older than an hour, and others in the thread then wait with them. */
const LIVE_AGE_MAX_MS = 50 * 60_000;

/** Of a step's newest output, as much as a line of the card can show. */
const LAST_LINE_LENGTH = 400;

export function onToolInfo(scene: Scene, frame: ChannelFrame, event: ToolInfoEvent): void {
  addTools(turnOf(scene, frame.seq ?? 0), event.items, frame.child_ws_id !== undefined);
  reveal(scene);
}

export function onToolStarted(scene: Scene, frame: ChannelFrame, event: ToolStartedEvent): void {
  const nested = frame.child_ws_id !== undefined;
  setTool(
    turnOf(scene, frame.seq ?? 0),
    event.call_id,
    event.name,
    nested ? { status: "running", nested } : { status: "running" },
  );
  reveal(scene);
}

export function onToolOutput(scene: Scene, event: ChunkEvent): void {
  const tool = scene.turn?.tools.get(event.call_id);
  if (scene.turn === null || tool === undefined) return;
  const text = (tool.last_line + event.chunk).slice(-LAST_LINE_LENGTH);
  const lines = text.split(/\r?\n|\r/);
  const last = lines.findLast((line) => line.trim() !== "") ?? "";
  tool.last_line = text.endsWith("\n") ? `${last}\n` : last;
  scene.dirty.live = scene.turn.live_shown;
}

export function onToolResult(scene: Scene, frame: ChannelFrame, event: ToolResultEvent): void {
  const status = event.denied === true ? "denied" : event.is_error ? "failed" : "done";
  setTool(turnOf(scene, frame.seq ?? 0), event.call_id, event.name, { status, last_line: "" });
  reveal(scene);
}

export function onQueue(scene: Scene, event: QueueEvent): void {
  const { turn } = scene;
  if (turn === null) return;
  if (event.type === "message_queued") {
    turn.queued.set(event.msg_id, { content: event.content, client_send_id: event.client_send_id ?? null });
  } else turn.queued.delete(event.msg_id);
  reveal(scene);
}

/** From now on the turn has a card. A turn without steps and waiting has none until it takes long. */
export function reveal(scene: Scene): void {
  if (scene.turn === null) return;
  scene.turn.live_shown = true;
  scene.dirty.live = true;
}

/** Shows how far the turn has come, in a new message when the one that did so is getting old. */
export async function showLive(scene: Scene): Promise<void> {
  const { turn } = scene;
  if (turn === null || !turn.live_shown) return;
  const now = scene.gateway.clock.now();
  turn.live_since ??= now;
  if (now - turn.live_since > LIVE_AGE_MAX_MS) {
    await scene.delivery.show(scene.ws_id, `live:${turn.seq}`, []);
    turn.live_since = now;
  }
  await scene.delivery.show(scene.ws_id, `live:${turn.seq}`, [liveCard(liveStateOf(turn))]);
}
