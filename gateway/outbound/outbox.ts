import type { ChannelFrame } from "../../src/protocol/channel.ts";
import type { Gateway } from "../gateway.ts";
import { closeForGonePlace } from "./lifecycle.ts";
import { createStage, type Stage } from "./stage.ts";

/** All places in which something is shown. */
export interface Outbox {
  show(frame: ChannelFrame): void;
  /** Somebody deleted a message. */
  deleted(place: { channel_id: string; message_id: string }): void;
  /** Somebody deleted a thread. */
  threadDeleted(channel_id: string): void;
}

/** Places that are remembered while nothing happens in them; forgetting one costs a few look-ups when it wakes. */
const STAGES_MAX = 2000;

export function createOutbox(gateway: Gateway): Outbox {
  const stages = new Map<string, Stage>();

  const forgetIdle = (): void => {
    for (const [channel_id, stage] of stages) {
      if (stages.size <= STAGES_MAX) return;
      if (stage.idle()) stages.delete(channel_id);
    }
  };

  return {
    show(frame) {
      const key = `${frame.channel_id}/${frame.ws_id}`;
      let stage = stages.get(key);
      if (stage === undefined) {
        stage = createStage(gateway, frame);
        stages.set(key, stage);
        if (stages.size > STAGES_MAX) forgetIdle();
      }
      stage.accept(frame);
    },
    deleted({ channel_id, message_id }) {
      for (const [key, stage] of stages) if (key.startsWith(`${channel_id}/`)) stage.deleted(message_id);
    },
    threadDeleted(channel_id) {
      const stage = [...stages].find(([key]) => key.startsWith(`${channel_id}/`))?.[1];
      if (stage !== undefined) stage.gone();
      else {
        void leaveUnknown(gateway, channel_id).catch((error: unknown) =>
          gateway.log.error("place.not_left", { error: error as Error }),
        );
      }
    },
  };
}

async function leaveUnknown(gateway: Gateway, channel_id: string): Promise<void> {
  const route = await gateway.routes.refresh(channel_id);
  if (!route.ok || route.value === null) return;
  await closeForGonePlace(gateway, {
    route_channel_id: channel_id,
    ws_id: route.value.ws_id,
    kind: route.value.kind,
    asker: null,
  });
}
