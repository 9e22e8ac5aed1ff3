import * as Type from "./schema.ts";
import { GrantAnswer } from "./answers.ts";

const NullableText = Type.Union([Type.String(), Type.Null()]);
const Username = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });
const Scopes = Type.String({ maxLength: 64, description: "Comma-separated: read, write, approve" });

export const UserAnswer = Type.Object({
  user_id: Type.String(),
  username: Type.String(),
  display_name: Type.String(),
  scopes: Type.String(),
  has_password: Type.Boolean(),
  created: Type.String(),
});
export type UserAnswer = Type.Static<typeof UserAnswer>;

export const UsersAnswer = Type.Object({ users: Type.Array(UserAnswer) });

export const NewUserBody = Type.Object(
  {
    username: Username,
    display_name: Type.Optional(Type.String({ maxLength: 128 })),
    password: Type.Optional(Type.String({ minLength: 8, maxLength: 1024 })),
    scopes: Type.Optional(Scopes),
  },
  { additionalProperties: false },
);
export type NewUserBody = Type.Static<typeof NewUserBody>;

export const ExtendBudgetBody = Type.Object(
  {
    user_id: Type.String({ maxLength: 64 }),
    day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "Today, in UTC" }),
    extension: Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: "Its number on that day, so that it counts once",
    }),
  },
  { additionalProperties: false },
);
export type ExtendBudgetBody = Type.Static<typeof ExtendBudgetBody>;

export const ExtendBudgetAnswer = Type.Object({
  status: Type.Literal("ok"),
  user_id: Type.String(),
  display_name: Type.String(),
});
export type ExtendBudgetAnswer = Type.Static<typeof ExtendBudgetAnswer>;

export const NewTokenBody = Type.Object(
  {
    user_id: Type.Optional(Type.String({ maxLength: 64, description: "The caller if absent" })),
    name: Type.Optional(Type.String({ maxLength: 128 })),
    scopes: Type.Optional(Scopes),
    expires_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
  },
  { additionalProperties: false },
);
export type NewTokenBody = Type.Static<typeof NewTokenBody>;

export const NewTokenAnswer = Type.Object({
  token_id: Type.String(),
  token: Type.String({ description: "Shown this once" }),
  scopes: Type.String(),
  expires: NullableText,
});

export const TokensAnswer = Type.Object({
  tokens: Type.Array(
    Type.Object({
      token_id: Type.String(),
      token_prefix: Type.String(),
      user_id: Type.String(),
      name: Type.String(),
      scopes: Type.String(),
      created: Type.String(),
      expires: NullableText,
      revoked: NullableText,
    }),
  ),
});

export const UserQuery = Type.Object({ user_id: Type.Optional(Type.String({ maxLength: 64 })) });

export const GrantsQuery = Type.Object({
  user_id: Type.Optional(Type.String({ maxLength: 64, description: "The caller if absent" })),
  ws_id: Type.Optional(Type.String({ maxLength: 64 })),
});

export const GrantsAnswer = Type.Object({ grants: Type.Array(GrantAnswer) });

export const AdminLinkBody = Type.Object(
  {
    user_id: Type.String({ minLength: 1, maxLength: 64 }),
    channel_type: Type.String({ pattern: "^[a-z][a-z0-9_-]{0,31}$" }),
    channel_user_id: Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    scopes: Type.Optional(Scopes),
  },
  { additionalProperties: false },
);
export type AdminLinkBody = Type.Static<typeof AdminLinkBody>;

export const AdminUnlinkBody = Type.Object(
  {
    channel_type: Type.String({ minLength: 1, maxLength: 64 }),
    channel_user_id: Type.String({ minLength: 1, maxLength: 64 }),
  },
  { additionalProperties: false },
);

export const AuditQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  before: Type.Optional(Type.String({ maxLength: 64, description: "Rows older than this one's id" })),
  action: Type.Optional(Type.String({ maxLength: 64 })),
  user_id: Type.Optional(Type.String({ maxLength: 64 })),
});

export const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      audit_id: Type.String(),
      at: Type.String(),
      user_id: NullableText,
      action: Type.String(),
      target: Type.String(),
      details: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
});
