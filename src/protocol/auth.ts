import * as Type from "./schema.ts";

/** From least to most; each includes the ones before it. `service` stands apart: the gateway's own. */
export const SCOPES = ["read", "write", "approve"] as const;
export type Scope = (typeof SCOPES)[number] | "service";

export const AUDIENCE_SERVER = "turnstone-server";
export const AUDIENCE_CHANNEL = "turnstone-channel";
export const ISSUER = "turnstone";
export const COOKIE_NAME = "turnstone_auth";
/** The gateway names for whom it acts: `discord:<user id>`. */
export const ACTOR_HEADER = "x-turnstone-actor";
/** What the platform's roles allow the actor, as the gateway knows it; the smaller of this and the account counts. */
export const ACTOR_ROLE_HEADER = "x-turnstone-actor-role";
/**
 * `talk`: speak where invited; `use`: start workstreams; `approve`: decide in others' too; `admin`: steer others'
 * too.
 */
export const ACTOR_ROLES = ["talk", "use", "approve", "admin"] as const;
export type ActorRole = (typeof ACTOR_ROLES)[number];

export const LoginBody = Type.Object(
  {
    username: Type.Optional(Type.String({ maxLength: 64 })),
    password: Type.Optional(Type.String({ maxLength: 1024 })),
    token: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  { additionalProperties: false },
);
export type LoginBody = Type.Static<typeof LoginBody>;

export const LoginAnswer = Type.Object({
  status: Type.Literal("ok"),
  role: Type.Enum(["full", "read"]),
  scopes: Type.String({ description: "Comma-separated" }),
  jwt: Type.String(),
  user_id: Type.String(),
});
export type LoginAnswer = Type.Static<typeof LoginAnswer>;

export const SetupBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" }),
    display_name: Type.Optional(Type.String({ maxLength: 128 })),
    password: Type.String({ minLength: 8, maxLength: 1024 }),
    setup_code: Type.Optional(Type.String({ maxLength: 128 })),
  },
  { additionalProperties: false },
);
export type SetupBody = Type.Static<typeof SetupBody>;
