import * as Type from "./schema.ts";
import { GrantScope } from "./approval.ts";
import { WORKSTREAM_KINDS, WORKSTREAM_STATES, WorkstreamSummary } from "./workstream.ts";

/** Success without anything to say. */
export const OkAnswer = Type.Object({ status: Type.Literal("ok") });
export type OkAnswer = Type.Static<typeof OkAnswer>;

/** Every answer that is not a success. */
export const ErrorAnswer = Type.Object({
  error: Type.String({ description: "One plain sentence: what, why, what to do" }),
  code: Type.Optional(Type.String()),
});

export const AuthStatusAnswer = Type.Object({
  auth_enabled: Type.Boolean(),
  has_users: Type.Boolean(),
  setup_required: Type.Boolean(),
});

export const HealthAnswer = Type.Object({
  status: Type.Enum(["ok", "degraded"]),
  store: Type.Enum(["up", "damaged"]),
  version: Type.String(),
  node_id: Type.String(),
  uptime_seconds: Type.Number(),
  workstreams: Type.Object({
    total: Type.Integer(),
    idle: Type.Integer(),
    thinking: Type.Integer(),
    running: Type.Integer(),
    attention: Type.Integer(),
    error: Type.Integer(),
  }),
  backend: Type.Object({
    status: Type.Enum(["up", "down"]),
    circuit_state: Type.Enum(["closed", "open", "half_open"]),
  }),
  /** Why one is not ready, people who may are told by `/mcp`. */
  mcp_servers: Type.Array(
    Type.Object({
      server: Type.String(),
      state: Type.Enum(["connecting", "ready", "unavailable", "sign_in_required", "rejected"]),
      tools: Type.Integer(),
    }),
  ),
});
export type HealthAnswer = Type.Static<typeof HealthAnswer>;

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const WorkstreamsAnswer = Type.Object({ workstreams: Type.Array(WorkstreamSummary) });

export const SavedWorkstreamsAnswer = Type.Object({
  workstreams: Type.Array(
    Type.Object({
      ws_id: Type.String(),
      alias: NullableText,
      title: NullableText,
      name: Type.String(),
      created: Type.String(),
      updated: Type.String(),
      message_count: Type.Integer(),
    }),
  ),
});

export const DashboardAnswer = Type.Object({
  workstreams: Type.Array(
    Type.Object({
      ws_id: Type.String(),
      name: Type.String(),
      title: NullableText,
      state: Type.Enum([...WORKSTREAM_STATES]),
      kind: Type.Enum([...WORKSTREAM_KINDS]),
      parent_ws_id: NullableText,
      user_id: NullableText,
      tokens: Type.Integer(),
      context_ratio: Type.Number(),
      activity: Type.String(),
      activity_state: Type.Enum(["tool", "approval", "thinking", ""]),
      tool_calls: Type.Integer(),
      model: Type.String(),
      model_alias: Type.String(),
      queued: Type.Integer(),
    }),
  ),
  aggregate: Type.Object({
    total_tokens: Type.Integer(),
    /** What the person used since midnight UTC; `cost_usd` counts the calls whose price is known. */
    usage_today: Type.Object({
      prompt_tokens: Type.Integer(),
      completion_tokens: Type.Integer(),
      cost_usd: Type.Number(),
    }),
    total_tool_calls: Type.Integer(),
    active_count: Type.Integer(),
    total_count: Type.Integer(),
    uptime_seconds: Type.Number(),
    node: Type.String(),
  }),
});

export const HistoryQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: "Messages, the newest ones; 200 if absent" }),
  ),
});

export const HistoryAnswerSchema = Type.Object({
  ws_id: Type.String(),
  messages: Type.Array(
    Type.Object({
      role: Type.Enum(["user", "assistant", "tool"]),
      content: Type.String(),
      seq: Type.Integer(),
      at: Type.String(),
    }),
  ),
  cursor: Type.Integer(),
  handoff_token: Type.String(),
});

export const FileQuery = Type.Object({
  path: Type.String({ minLength: 1, maxLength: 4096, description: "Relative to the workstream's folder" }),
});

export const ModelsAnswer = Type.Object({
  models: Type.Array(Type.Object({ alias: Type.String(), model: Type.String(), is_default: Type.Boolean() })),
});
export type ModelsAnswer = Type.Static<typeof ModelsAnswer>;

export const EventsQuery = Type.Object({
  last_event_id: Type.Optional(Type.String({ maxLength: 64, description: "The last event that the client has" })),
});

export const RewindAnswer = Type.Object({ status: Type.Literal("ok"), turns: Type.Integer() });

export const CommandAnswer = Type.Object({ status: Type.Literal("ok"), output: Type.String() });

export const PlanAnswer = Type.Object({ status: Type.Literal("ok"), review_id: Type.String() });

export const InviteBody = Type.Object(
  {
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    channel_type: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    channel_user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  { additionalProperties: false, description: "The person by user name, or by an account linked on a platform" },
);
export type InviteBody = Type.Static<typeof InviteBody>;

export const InviteAnswer = Type.Object({ status: Type.Literal("ok"), user_id: Type.String(), name: Type.String() });

export const AttachmentAnswer = Type.Object({
  attachment_id: Type.String(),
  filename: Type.String(),
  media_type: Type.String(),
  size: Type.Integer({ description: "Bytes" }),
});

export const AttachmentsAnswer = Type.Object({ attachments: Type.Array(AttachmentAnswer) });

export const MemoriesQuery = Type.Object({
  query: Type.Optional(Type.String({ maxLength: 1000 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
});

export const MemoryBody = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 256 }),
    value: Type.String({ minLength: 1, maxLength: 16_384 }),
    scope: Type.Optional(Type.Enum(["user", "global"], { description: "user if absent; global needs approve" })),
  },
  { additionalProperties: false },
);
export type MemoryBody = Type.Static<typeof MemoryBody>;

const Memory = Type.Object({
  memory_id: Type.String(),
  scope: Type.Enum(["user", "workspace", "global"]),
  key: Type.String(),
  value: Type.String(),
  created: Type.String(),
  updated: Type.String(),
});

export const MemoriesAnswer = Type.Object({ memories: Type.Array(Memory), total: Type.Integer() });

export const MemoryAnswer = Type.Object({ status: Type.Literal("ok"), memory: Memory, previous: NullableText });

export const GrantAnswer = Type.Object({
  grant_id: Type.String(),
  ws_id: NullableText,
  user_id: Type.String(),
  tool: Type.String(),
  match: GrantScope.properties.match,
  pattern: NullableText,
  created: Type.String(),
  expires: NullableText,
  revoked: NullableText,
});
