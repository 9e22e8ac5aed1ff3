import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { Gateway } from "../gateway.ts";
import type { Delivery } from "./delivery.ts";
import { newTurn, type Turn } from "./turn.ts";

/** What the units of a place share. Each unit is one file that turns events into what people see. */
export interface Scene {
  readonly gateway: Gateway;
  readonly ws_id: string;
  /** As in the route. */
  readonly route_channel_id: string;
  /** On the platform. */
  readonly channel_id: string;
  /** Learnt from the route before anything is shown. */
  kind: "thread" | "dm" | "beside";
  readonly delivery: Delivery;
  turn: Turn | null;
  /** Who asked last, for messages that concern the whole place. */
  last_asker: string | null;
  /** What an edit at the next tick would show. */
  dirty: { answer: boolean; live: boolean };
}

/** The running turn; one whose beginning was not seen is begun here. */
export function turnOf(scene: Scene, seq: number): Turn {
  scene.turn ??= newTurn(seq);
  return scene.turn;
}

/** Whose card or step a frame is about: a sub-agent's own workstream, or the place's. */
export function workstreamOf(scene: Scene, frame: ChannelFrame): string {
  return frame.child_ws_id ?? scene.ws_id;
}
