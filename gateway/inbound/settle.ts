import type { InboundMessage } from "../channel_adapter.ts";
import type { Gateway } from "../gateway.ts";
import { createRecent } from "../recent.ts";
import { isBegun } from "./catch_up.ts";
import type { HeardMarks } from "./heard.ts";
import type { Introducer } from "./introduce.ts";

const ANSWERS_MAX = 10_000;

export type IsAnswered = (message: InboundMessage) => boolean;

/** The same gateway, and whether it has replied to a message in the place where that was said. */
export function watchAnswers(gateway: Gateway): { gateway: Gateway; isAnswered: IsAnswered } {
  const answered = createRecent<true>(ANSWERS_MAX);
  const { adapter } = gateway;
  return {
    gateway: {
      ...gateway,
      adapter: {
        ...adapter,
        async post(channel_id, view, options) {
          const posted = await adapter.post(channel_id, view, options);
          if (posted.ok && options?.reply_to !== undefined) answered.set(`${channel_id}/${options.reply_to}`, true);
          return posted;
        },
      },
    },
    isAnswered: ({ place, id }) => answered.get(`${place.channel_id}/${id}`) !== undefined,
  };
}

/** Runs the work of a message; what is said in a channel is settled when its author has an answer or a conversation. */
export function createSettler(
  { routes }: Gateway,
  heard: HeardMarks,
  isAnswered: IsAnswered,
  introducer: Introducer,
): (message: InboundMessage, work: () => Promise<void>) => Promise<void> {
  const isSettled = async (message: InboundMessage): Promise<boolean> => {
    if (!message.mentions_us || isAnswered(message) || introducer.wasSilent(message.id)) return true;
    const route = await routes.find(message.thread_id ?? message.id);
    return route.ok && route.value !== null && isBegun(route.value);
  };
  return (message, work) => {
    const { kind, channel_id } = message.place;
    if (kind === "thread" || kind === "dm") return work();
    return heard.settle({ channel_id, message_id: message.id }, async () => {
      await work();
      return isSettled(message);
    });
  };
}
