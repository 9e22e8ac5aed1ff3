import { timestamp } from "../../lib/clock.ts";
import { OkAnswer } from "../../protocol/answers.ts";
import {
  PostedAnswer,
  PostedBody,
  type PostedMessage,
  PostedMessageAnswer,
  PostedQuery,
} from "../../protocol/channel.ts";
import { PATHS } from "../../protocol/paths.ts";
import type { HttpContext } from "../context.ts";
import { invalid, notFound, unknownWorkstream } from "../failures.ts";
import { type Route, route } from "../route.ts";

/** Messages that a gateway posted, so that they are edited instead of doubled, and answered to. */
export function postedRoutes({ store, clock }: HttpContext): Route[] {
  return [
    route({
      method: "POST",
      path: PATHS.channel_posted,
      summary: "Remembers a message of the gateway and what it shows",
      scope: "service",
      body: PostedBody,
      answer: OkAnswer,
      async handle({ params, body }) {
        if ((await store.workstreams.get(body.ws_id)) === null) throw unknownWorkstream();
        await store.channels.savePosted({
          ...body,
          channel_type: params["channel_type"] ?? "",
          created: timestamp(clock),
        });
        return { status: "ok" };
      },
    }),
    route({
      method: "GET",
      path: PATHS.channel_posted,
      summary: "Messages that show something of a workstream, or the newest in a channel",
      scope: "service",
      query: PostedQuery,
      answer: PostedAnswer,
      async handle({ params, query }): Promise<{ posted: PostedMessage[] }> {
        const channel_type = params["channel_type"] ?? "";
        const { ws_id, shows, channel_id } = query;
        if (ws_id !== undefined && shows !== undefined) {
          return { posted: await store.channels.postedShowing(channel_type, ws_id, shows) };
        }
        if (channel_id === undefined) throw invalid("Ask by ws_id and shows, or by channel_id.");
        const newest = await store.channels.lastPosted(channel_type, channel_id);
        return { posted: newest === null ? [] : [newest] };
      },
    }),
    route({
      method: "GET",
      path: PATHS.channel_posted_message,
      summary: "What a message of the gateway shows",
      scope: "service",
      answer: PostedMessageAnswer,
      async handle({ params }) {
        const message = await store.channels.posted(params["channel_type"] ?? "", params["message_id"] ?? "");
        if (message === null) throw notFound("This message is not known.");
        return message;
      },
    }),
  ];
}
