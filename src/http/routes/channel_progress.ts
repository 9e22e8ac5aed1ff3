import { timestamp } from "../../lib/clock.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import { ChannelRouteAnswer, ClosingToldBody, CursorBody, MarksAnswer, MarksBody } from "../../protocol/channel.ts";
import { PATHS } from "../../protocol/paths.ts";
import type { HttpContext } from "../context.ts";
import { nothingShown } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** How far a gateway has come with what it shows, so that another one goes on there. */
export function channelProgressRoutes({ store, clock }: HttpContext): Route[] {
  return [
    route({
      method: "POST",
      path: PATHS.channel_cursor,
      summary: "Says up to where a channel is complete; only forward",
      scope: "service",
      body: CursorBody,
      answer: ChannelRouteAnswer,
      async handle({ params, body }) {
        const moved = await store.channels.moveCursor(params["channel_type"] ?? "", params["channel_id"] ?? "", body);
        if (moved === null) throw nothingShown();
        return moved;
      },
    }),
    route({
      method: "POST",
      path: PATHS.channel_closing,
      summary: "Says that a channel was told that its conversation is over",
      scope: "service",
      body: ClosingToldBody,
      answer: OkAnswer,
      async handle({ params, body }) {
        await store.channels.closingTold(params["channel_type"] ?? "", params["channel_id"] ?? "", body.closed);
        return { status: "ok" };
      },
    }),
    route({
      method: "GET",
      path: PATHS.channel_marks,
      summary: "Up to where channels were heard",
      scope: "service",
      answer: MarksAnswer,
      handle: async ({ params }) => ({ marks: await store.channels.marks(params["channel_type"] ?? "") }),
    }),
    route({
      method: "POST",
      path: PATHS.channel_marks,
      summary: "Says up to where channels were heard; only forward",
      scope: "service",
      body: MarksBody,
      answer: OkAnswer,
      async handle({ params, body }) {
        await store.channels.moveMarks(params["channel_type"] ?? "", body.marks, timestamp(clock));
        return { status: "ok" };
      },
    }),
  ];
}
