import * as Type from "./schema.ts";
import type { EphemeralEvent, GlobalEvent, KeptEvent } from "./event.ts";

/**
 * What passes between the server and a gateway. A gateway keeps nothing: which thread belongs to which workstream, what
 * was shown, and up to where, are rows on the server.
 */

/** Where a workstream is shown: a thread, or the DM with a person. */
export interface ChannelRoute {
  channel_type: string;
  /** The thread's or DM channel's id. */
  channel_id: string;
  ws_id: string;
  kind: "thread" | "dm";
  guild_id: string | null;
  /** The channel that holds the thread. */
  parent_channel_id: string | null;
  /** The newest inbound message that was handled, for catching up after an outage. */
  last_inbound_id: string | null;
  /** The newest journal entry that is shown whole; 0 before the first. */
  cursor_seq: number;
  created: string;
}

export const RouteBody = Type.Object(
  {
    channel_id: Type.String({ minLength: 1, maxLength: 64 }),
    ws_id: Type.String({ maxLength: 64 }),
    kind: Type.Enum(["thread", "dm"]),
    guild_id: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    parent_channel_id: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    last_inbound_id: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    cursor_seq: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "What counts as shown: nothing for a thread, everything for a DM if absent",
      }),
    ),
  },
  { additionalProperties: false },
);
export type RouteBody = Type.Static<typeof RouteBody>;

export const CursorBody = Type.Object(
  {
    cursor_seq: Type.Optional(Type.Integer({ minimum: 0 })),
    last_inbound_id: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
);
/** Cursors only move forward; an older value is answered with the newer one. */
export type CursorBody = Type.Static<typeof CursorBody>;

/** Up to where everything that people wrote in a channel was heard and settled. */
export interface ChannelMark {
  channel_id: string;
  heard_id: string;
}

const Mark = Type.Object(
  {
    channel_id: Type.String({ minLength: 1, maxLength: 64 }),
    heard_id: Type.String({ minLength: 1, maxLength: 64 }),
  },
  { additionalProperties: false },
);
export const MarksBody = Type.Object({ marks: Type.Array(Mark, { maxItems: 500 }) }, { additionalProperties: false });
/** Marks only move forward. */
export type MarksBody = Type.Static<typeof MarksBody>;
export const MarksAnswer = Type.Object({ marks: Type.Array(Mark) });

/** Which closing a place was told of, by its time. */
export const ClosingToldBody = Type.Object({ closed: Type.String({ maxLength: 64 }) }, { additionalProperties: false });
export type ClosingToldBody = Type.Static<typeof ClosingToldBody>;

/**
 * A message that the bot posted: what it shows, so that it is found again, edited instead of doubled, and answered
 * to.
 */
export interface PostedMessage {
  channel_type: string;
  channel_id: string;
  message_id: string;
  ws_id: string;
  /**
   * What it shows: `answer:<model_call_id>`, `card:<cycle_id>`, `live:<turn seq>`, `entry:<seq>`,
   * `notification:<id>`, `review:<id>`, `closed:<time>`.
   */
  shows: string;
  /** 0 for the first message of a text that took several. */
  part: number;
  created: string;
}

export const PostedBody = Type.Object(
  {
    channel_id: Type.String({ minLength: 1, maxLength: 64 }),
    message_id: Type.String({ minLength: 1, maxLength: 64 }),
    ws_id: Type.String({ maxLength: 64 }),
    shows: Type.String({ minLength: 1, maxLength: 160 }),
    part: Type.Integer({ minimum: 0, maximum: 10_000 }),
  },
  { additionalProperties: false },
);
export type PostedBody = Type.Static<typeof PostedBody>;

export const LinkBody = Type.Object(
  {
    channel_user_id: Type.String({ minLength: 1, maxLength: 64 }),
    token: Type.String({ minLength: 1, maxLength: 256, description: "An API token of the person's account" }),
  },
  { additionalProperties: false },
);
export type LinkBody = Type.Static<typeof LinkBody>;

export const UnlinkBody = Type.Object(
  { channel_user_id: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false },
);
export type UnlinkBody = Type.Static<typeof UnlinkBody>;

/** Which account a platform user is linked to. */
export interface ChannelLink {
  channel_type: string;
  channel_user_id: string;
  user_id: string;
  username: string;
  display_name: string;
  /** What the account may do: the scopes of the token that made the link, comma-separated. */
  scopes: string;
  created: string;
}

/** One frame of `GET /v1/api/channels/{channel_type}/events`: an event and where it belongs. */
export interface ChannelFrame {
  ws_id: string;
  channel_id: string;
  /** Of a kept event; absent on ephemeral ones. */
  seq?: number;
  /** When a kept event happened, or a conversation was closed. */
  at?: string;
  /** For a step of a sub-agent: the child and the parent's call that started it. */
  child_ws_id?: string;
  parent_call_id?: string;
  /** With `ws_closed` of a conversation that is gone: messages in this place whose buttons nobody answers any more. */
  leftovers?: string[];
  event: KeptEvent | EphemeralEvent | GlobalEvent;
}

/** The first frame on a channel stream, and one after everything missed has been sent. */
export type ChannelControlFrame = { control: "hello"; node_id: string } | { control: "caught_up" };

export const ChannelLinkAnswer = Type.Object({
  channel_type: Type.String(),
  channel_user_id: Type.String(),
  user_id: Type.String(),
  username: Type.String(),
  display_name: Type.String(),
  scopes: Type.String(),
  created: Type.String(),
});

export const ChannelLinksAnswer = Type.Object({ links: Type.Array(ChannelLinkAnswer) });

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const ChannelRouteAnswer = Type.Object({
  channel_type: Type.String(),
  channel_id: Type.String(),
  ws_id: Type.String(),
  kind: Type.Enum(["thread", "dm"]),
  guild_id: NullableText,
  parent_channel_id: NullableText,
  last_inbound_id: NullableText,
  cursor_seq: Type.Integer(),
  created: Type.String(),
});

/** The owner of what is shown in a place, on the same platform; null where the owner is not linked there. */
export const ChannelOwnerAnswer = Type.Object({ channel_user_id: NullableText });
export type ChannelOwnerAnswer = Type.Static<typeof ChannelOwnerAnswer>;

export const ChannelRoutesAnswer = Type.Object({ routes: Type.Array(ChannelRouteAnswer) });

export const PostedMessageAnswer = Type.Object({
  channel_type: Type.String(),
  channel_id: Type.String(),
  message_id: Type.String(),
  ws_id: Type.String(),
  shows: Type.String(),
  part: Type.Integer(),
  created: Type.String(),
});

export const PostedQuery = Type.Object({
  ws_id: Type.Optional(Type.String({ maxLength: 64 })),
  shows: Type.Optional(Type.String({ maxLength: 160 })),
  channel_id: Type.Optional(Type.String({ maxLength: 64, description: "The newest message in this channel" })),
});

export const PostedAnswer = Type.Object({ posted: Type.Array(PostedMessageAnswer) });
