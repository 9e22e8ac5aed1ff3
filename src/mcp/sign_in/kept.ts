import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import type { McpSignInStore } from "../../contracts/mcp_sign_in.ts";
import type { Clock } from "../../lib/clock.ts";
import { timestamp } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Sealer } from "../../lib/seal.ts";

/** What a person's credential holds. */
export interface KeptTokens {
  tokens: OAuthTokens;
  discovery: OAuthDiscoveryState | null;
}

/** What a server knows this installation by. It is good for the address that it was told of alone. */
export interface KeptClient {
  client: OAuthClientInformationMixed;
  redirect_url: string;
}

/** What has to be remembered until the browser comes back. */
export interface KeptSignIn {
  verifier: string;
  discovery: OAuthDiscoveryState | null;
}

/** Who the installation itself is, among the people of a server. */
const NOBODY = "";

/** Credentials as they are kept: sealed, and each only good for whom and what it was kept for. */
export class CredentialStore {
  /** Sign-ins that were begun. */
  readonly rows: McpSignInStore;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(parts: { store: McpSignInStore; sealer: Sealer; clock: Clock; log: Log }) {
    this.rows = parts.store;
    this.#sealer = parts.sealer;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  tokens(server: string, user_id: string): Promise<KeptTokens | null> {
    return this.#read(server, user_id);
  }

  keepTokens(server: string, user_id: string, kept: KeptTokens): Promise<void> {
    return this.#keep(server, user_id, kept);
  }

  dropTokens(server: string, user_id: string): Promise<boolean> {
    return this.rows.dropCredential(server, user_id);
  }

  client(server: string): Promise<KeptClient | null> {
    return this.#read(server, NOBODY);
  }

  keepClient(server: string, kept: KeptClient): Promise<void> {
    return this.#keep(server, NOBODY, kept);
  }

  async dropClient(server: string): Promise<void> {
    await this.rows.dropCredential(server, NOBODY);
  }

  people(server: string): Promise<string[]> {
    return this.rows.people(server);
  }

  sealSignIn(state_hash: string, kept: KeptSignIn): string {
    return this.#sealer.seal(JSON.stringify(kept), state_hash);
  }

  openSignIn(state_hash: string, payload: string): KeptSignIn | null {
    const text = this.#sealer.open(payload, state_hash);
    // What was sealed is what this file wrote.
    return text === null ? null : (JSON.parse(text) as KeptSignIn);
  }

  async #read<Kept>(server: string, user_id: string): Promise<Kept | null> {
    const payload = await this.rows.credential(server, user_id);
    if (payload === null) return null;
    const text = this.#sealer.open(payload, about(server, user_id));
    if (text === null) this.#log.warn("mcp.credential_unreadable", { server, user_id });
    // What was sealed is what this file wrote.
    return text === null ? null : (JSON.parse(text) as Kept);
  }

  #keep(server: string, user_id: string, kept: KeptTokens | KeptClient): Promise<void> {
    const payload = this.#sealer.seal(JSON.stringify(kept), about(server, user_id));
    return this.rows.keepCredential({ server, user_id, payload, updated: timestamp(this.#clock) });
  }
}

function about(server: string, user_id: string): string {
  return JSON.stringify([server, user_id]);
}
