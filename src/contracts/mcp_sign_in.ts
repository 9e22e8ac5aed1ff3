/** A sign-in to an MCP server that somebody began. */
export interface McpSignInRow {
  /** SHA-256 of the state that the browser brings back. */
  state_hash: string;
  server: string;
  user_id: string;
  payload: string;
  /** ISO 8601. */
  expires: string;
}

/** What people's sign-ins to MCP servers need. Payloads are sealed before they come here. */
export interface McpSignInStore {
  /** A person's credential at a server; with the empty `user_id`, what the server knows this installation by. */
  credential(server: string, user_id: string): Promise<string | null>;
  keepCredential(row: { server: string; user_id: string; payload: string; updated: string }): Promise<void>;
  dropCredential(server: string, user_id: string): Promise<boolean>;
  /** Who has a credential at a server; the newest first. */
  people(server: string): Promise<string[]>;
  /** Answers false where the person has begun `open_max` others that have not run out. */
  begin(row: McpSignInRow, limits: { at: string; open_max: number }): Promise<boolean>;
  begun(state_hash: string): Promise<McpSignInRow | null>;
  /** Takes it away, so that it is finished once. */
  take(state_hash: string): Promise<McpSignInRow | null>;
}

export type BeginResult =
  /** `url`: where the person's browser has to go; `expires`: until when, ISO 8601. */
  { ok: true; url: string; expires: string } | { ok: false; error: string };

export type FinishResult = { ok: true; server: string; user_id: string } | { ok: false; error: string };

/** What a browser brings back from where a person signed in. */
export interface SignInAnswer {
  state: string;
  code: string;
  /** Who says so (RFC 9207); null where it was not said. */
  issuer: string | null;
}

/** How people sign in to MCP servers that know them by accounts of their own. */
export interface SignIns {
  begin(server: string, user_id: string): Promise<BeginResult>;
  /** Which sign-in a state belongs to; null for one that is unknown, over, or has run out. */
  begun(state: string): Promise<{ server: string; user_id: string } | null>;
  /** Takes the credential. A state is good for one attempt. */
  finish(answer: SignInAnswer): Promise<FinishResult>;
  /** Forgets a person's credential; answers false where there was none. */
  signOut(server: string, user_id: string): Promise<boolean>;
  /** What an authorisation server that reads it knows this installation by; null without a public https address. */
  clientMetadata(): Record<string, unknown> | null;
}

/** Where nothing can be kept that people sign in with. */
export const NO_SIGN_INS: SignIns = {
  begin: () => Promise.resolve({ ok: false, error: "Nobody can sign in to MCP servers here." }),
  begun: () => Promise.resolve(null),
  finish: () => Promise.resolve({ ok: false, error: "Nobody can sign in to MCP servers here." }),
  signOut: () => Promise.resolve(false),
  clientMetadata: () => null,
};
