import { randomBytes } from "node:crypto";
import type { BeginResult, FinishResult, SignInAnswer, SignIns } from "../../contracts/mcp_sign_in.ts";
import type { Clock } from "../../lib/clock.ts";
import { sha256 } from "../../lib/ids.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { discoveryFetch, isLoopback } from "./discovery_fetch.ts";
import type { CredentialStore, KeptSignIn } from "./kept.ts";
import { clientMetadata, type Flow, oauthProvider, type OAuthServer, type Presentation } from "./oauth_client.ts";
import type { Challenge } from "./required.ts";

/** A person looks for a password, not for lunch. */
const LIFETIME_MS = 600_000;
/** Sign-ins that one person has begun and not finished. */
const OPEN_MAX = 20;

/** What the sign-ins need of those who know the servers. */
export interface SignInHost {
  server(name: string): OAuthServer | null;
  /** What the server asked for when it refused last; asks it where it has not refused yet. */
  challenge(name: string, user_id: string): Promise<Challenge>;
  signedIn(name: string, user_id: string): Promise<void>;
  signedOut(name: string, user_id: string): Promise<void>;
}

export interface SignInParts {
  credentials: CredentialStore;
  clock: Clock;
  log: Log;
  /** Null where no browser could come back. */
  presentation: Presentation | null;
}

const NO_ADDRESS =
  "Nobody can come back from signing in, since it is not known under which address browsers reach this server; set [server] public_url.";

/** Authorisation code with PKCE, for people who come by chat and go on in a browser. */
export class PeopleSignIns implements SignIns {
  readonly #parts: SignInParts;
  readonly #host: SignInHost;

  constructor(parts: SignInParts, host: SignInHost) {
    this.#parts = parts;
    this.#host = host;
  }

  async begin(name: string, user_id: string): Promise<BeginResult> {
    const { clock, credentials, presentation } = this.#parts;
    const server = this.#host.server(name);
    if (server === null) return { ok: false, error: `There is no MCP server ${name} that people sign in to.` };
    if (presentation === null) return { ok: false, error: NO_ADDRESS };
    const state = randomBytes(32).toString("base64url");
    const state_hash = sha256(state);
    const begun = await this.#authorise(server, presentation, await this.#host.challenge(name, user_id), state);
    if (!begun.ok) return begun;
    const { url, verifier, discovery } = begun;
    const now = clock.now();
    const expires = new Date(now + LIFETIME_MS).toISOString();
    const payload = credentials.sealSignIn(state_hash, { verifier, discovery });
    const limits = { at: new Date(now).toISOString(), open_max: OPEN_MAX };
    if (!(await credentials.rows.begin({ state_hash, server: name, user_id, payload, expires }, limits))) {
      return { ok: false, error: "You have begun too many sign-ins; finish one, or wait ten minutes." };
    }
    return { ok: true, url: url.href, expires };
  }

  async begun(state: string): Promise<{ server: string; user_id: string } | null> {
    const row = await this.#parts.credentials.rows.begun(sha256(state));
    if (row === null || row.expires <= new Date(this.#parts.clock.now()).toISOString()) return null;
    return { server: row.server, user_id: row.user_id };
  }

  async finish({ state, code, issuer }: SignInAnswer): Promise<FinishResult> {
    const { clock, credentials, presentation } = this.#parts;
    const state_hash = sha256(state);
    const row = await credentials.rows.take(state_hash);
    const server = row === null ? null : this.#host.server(row.server);
    const kept = row === null ? null : credentials.openSignIn(state_hash, row.payload);
    const expired = row === null || row.expires <= new Date(clock.now()).toISOString();
    if (expired || server === null || kept === null || presentation === null) {
      return { ok: false, error: "This sign-in has run out or was finished before; begin it again." };
    }
    const { user_id } = row;
    const wanted = kept.discovery?.authorizationServerMetadata;
    if (!isIssuer(wanted, issuer)) {
      return { ok: false, error: "Somebody else answered than was asked; nothing was connected. Begin it again." };
    }
    const exchanged = await this.#exchange(server, presentation, kept, user_id, code);
    if (!exchanged.ok) return exchanged;
    await this.#host.signedIn(server.name, user_id);
    return { ok: true, server: server.name, user_id };
  }

  async signOut(name: string, user_id: string): Promise<boolean> {
    const known = await this.#parts.credentials.dropTokens(name, user_id);
    await this.#host.signedOut(name, user_id);
    return known;
  }

  clientMetadata(): Record<string, unknown> | null {
    const { presentation } = this.#parts;
    if (presentation === null || presentation.client_metadata_url === null) return null;
    return {
      ...clientMetadata(presentation, null),
      client_id: presentation.client_metadata_url,
      token_endpoint_auth_method: "none",
    };
  }

  async #authorise(
    server: OAuthServer,
    presentation: Presentation,
    challenge: Challenge,
    state: string,
  ): Promise<({ ok: true; url: URL } & KeptSignIn) | { ok: false; error: string }> {
    let redirect: { url: URL; verifier: string } | null = null;
    const flow: Flow = {
      ...NO_TOKENS,
      redirect: (url, verifier) => (redirect = { url, verifier }),
      verifier: "",
      state,
      discovery: null,
    };
    try {
      await this.#auth(server, presentation, flow, challenge);
    } catch (error) {
      return { ok: false, error: this.#failed(server, error) };
    }
    const found = redirect as { url: URL; verifier: string } | null;
    if (found === null || !isBrowsable(found.url)) {
      return { ok: false, error: `The MCP server ${server.name} names no page where people could sign in.` };
    }
    return { ok: true, ...found, discovery: flow.discovery };
  }

  async #exchange(
    server: OAuthServer,
    presentation: Presentation,
    kept: KeptSignIn,
    user_id: string,
    code: string,
  ): Promise<{ ok: true } | { ok: false; error: string }> {
    const { credentials } = this.#parts;
    const flow: Flow = {
      ...NO_TOKENS,
      saveTokens: (tokens) => credentials.keepTokens(server.name, user_id, { tokens, discovery: flow.discovery }),
      redirect: () => undefined,
      verifier: kept.verifier,
      state: "",
      discovery: kept.discovery,
    };
    try {
      const challenge = { resource_metadata_url: kept.discovery?.resourceMetadataUrl ?? null, scope: null };
      await this.#auth(server, presentation, flow, challenge, code);
      return { ok: true };
    } catch (error) {
      return { ok: false, error: this.#failed(server, error) };
    }
  }

  async #auth(
    server: OAuthServer,
    presentation: Presentation,
    flow: Flow,
    { resource_metadata_url, scope }: Challenge,
    code?: string,
  ): Promise<void> {
    const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
    await auth(oauthProvider(server, presentation, this.#parts.credentials, flow), {
      serverUrl: server.url,
      fetchFn: discoveryFetch(server.url),
      ...(scope === null ? {} : { scope }),
      ...(resource_metadata_url === null ? {} : { resourceMetadataUrl: new URL(resource_metadata_url) }),
      ...(code === undefined ? {} : { authorizationCode: code }),
    });
  }

  #failed({ name }: OAuthServer, error: unknown): string {
    this.#parts.log.warn("mcp.sign_in_failed", { server: name, error: describeError(error) });
    return `Signing in to the MCP server ${name} failed; its operator, or the log of this server, knows why. Try it again.`;
  }
}

const NO_TOKENS = {
  tokens: () => undefined,
  saveTokens: () => Promise.resolve(),
  dropTokens: () => Promise.resolve(),
} satisfies Partial<Flow>;

/** A browser is sent to a page, never to a program. */
function isBrowsable(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** RFC 9207: an answer that names its issuer names the one that was asked; who promises to name it does. */
function isIssuer(metadata: Record<string, unknown> | undefined, issuer: string | null): boolean {
  if (issuer === null) return metadata?.["authorization_response_iss_parameter_supported"] !== true;
  return metadata === undefined || metadata["issuer"] === issuer;
}
