import * as Type from "./schema.ts";

/** The states of a workstream. `attention` means that a person is asked. */
export const WORKSTREAM_STATES = ["idle", "thinking", "running", "attention", "error"] as const;
export type WorkstreamState = (typeof WORKSTREAM_STATES)[number];

/** How a turn ended. */
export const TURN_OUTCOMES = ["done", "cancelled", "interrupted", "limit", "failed"] as const;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];

/** A conversation with a person, or a sub-agent's own. */
export const WORKSTREAM_KINDS = ["main", "task", "plan"] as const;
export type WorkstreamKind = (typeof WORKSTREAM_KINDS)[number];

/** Characters of one message to the agent. */
export const MESSAGE_LENGTH_MAX = 262_144;

const WorkstreamId = Type.String({ pattern: "^[0-9a-f]{32}$", description: "32 hexadecimal digits" });

export const NewWorkstreamBody = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 256 })),
    model: Type.Optional(Type.String({ maxLength: 128, description: "An alias of a configured model" })),
    auto_approve: Type.Optional(
      Type.Boolean({ description: "Runs every call unasked while the owner alone speaks; needs the approve scope" }),
    ),
    auto_approve_tools: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 128 })),
    initial_message: Type.Optional(Type.String({ maxLength: MESSAGE_LENGTH_MAX })),
    client_send_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    attachment_ids: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 })),
    ws_id: Type.Optional(WorkstreamId),
    resume_ws: Type.Optional(Type.String({ maxLength: 128 })),
    user_id: Type.Optional(Type.String({ maxLength: 64, description: "The owner; scope service only" })),
  },
  { additionalProperties: false },
);
export type NewWorkstreamBody = Type.Static<typeof NewWorkstreamBody>;

export const NewWorkstreamAnswer = Type.Object({
  ws_id: Type.String(),
  name: Type.String(),
  resumed: Type.Boolean(),
  message_count: Type.Integer(),
});
export type NewWorkstreamAnswer = Type.Static<typeof NewWorkstreamAnswer>;

export const WorkstreamSummary = Type.Object({
  ws_id: Type.String(),
  name: Type.String(),
  state: Type.Enum([...WORKSTREAM_STATES]),
  kind: Type.Enum([...WORKSTREAM_KINDS]),
  parent_ws_id: Type.Union([Type.String(), Type.Null()]),
  user_id: Type.Union([Type.String(), Type.Null()]),
});
export type WorkstreamSummary = Type.Static<typeof WorkstreamSummary>;

export const SendBody = Type.Object(
  {
    message: Type.String({ maxLength: MESSAGE_LENGTH_MAX }),
    client_send_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    attachment_ids: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 })),
  },
  { additionalProperties: false },
);
export type SendBody = Type.Static<typeof SendBody>;

export const SendAnswer = Type.Object({
  status: Type.Enum(["ok", "queued", "queue_full"]),
  msg_id: Type.String(),
});
/** `msg_id` is empty when the queue is full. */
export type SendAnswer = Type.Static<typeof SendAnswer>;

export const CancelBody = Type.Object({ force: Type.Optional(Type.Boolean()) }, { additionalProperties: false });
export type CancelBody = Type.Static<typeof CancelBody>;

export const CancelAnswer = Type.Object({
  status: Type.Enum(["ok", "idle"], { description: "idle: nothing was running" }),
  dropped: Type.Integer({ description: "Queued messages that were taken back" }),
});
export type CancelAnswer = Type.Static<typeof CancelAnswer>;

export const CloseBody = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: 500 })) },
  { additionalProperties: false },
);
export type CloseBody = Type.Static<typeof CloseBody>;

export const RewindBody = Type.Object(
  { turns: Type.Integer({ minimum: 1, maximum: 1000 }) },
  { additionalProperties: false },
);
export type RewindBody = Type.Static<typeof RewindBody>;

export const CommandBody = Type.Object(
  { command: Type.String({ minLength: 1, maxLength: 4000 }), ws_id: Type.String({ maxLength: 64 }) },
  { additionalProperties: false },
);
export type CommandBody = Type.Static<typeof CommandBody>;

/** One message of `GET …/history`, as a person saw it. */
export interface HistoryMessage {
  role: "user" | "assistant" | "tool";
  content: string;
  seq: number;
  at: string;
  sender?: { user_id: string; name: string };
  tool_calls?: { id: string; name: string; arguments: string }[];
  call_id?: string;
  name?: string;
  is_error?: boolean;
  denied?: boolean;
  reasoning?: string;
}

export interface HistoryAnswer {
  ws_id: string;
  messages: HistoryMessage[];
  /** The last `seq`: pass it as `last_event_id` to miss nothing. */
  cursor: number;
  /** The same cursor bound to the workstream, opaque to clients. */
  handoff_token: string;
}
