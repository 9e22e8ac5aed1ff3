import * as Type from "./schema.ts";

export const BeginSignInBody = Type.Object(
  { server: Type.String({ minLength: 1, maxLength: 200, description: "The server's name in the settings" }) },
  { additionalProperties: false },
);

export const BeginSignInAnswer = Type.Object({
  url: Type.String({ description: "Where the person's own browser has to go" }),
  expires: Type.String({ description: "Until when, ISO 8601" }),
});
export type BeginSignInAnswer = Type.Static<typeof BeginSignInAnswer>;

/** What an authorisation server sends a browser back with (RFC 6749, section 4.1.2; RFC 9207). */
export const SignInCallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ maxLength: 200 })),
  code: Type.Optional(Type.String({ maxLength: 8192 })),
  iss: Type.Optional(Type.String({ maxLength: 2048 })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
});
export type SignInCallback = Type.Static<typeof SignInCallbackQuery>;
