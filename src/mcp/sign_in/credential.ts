import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { discoveryFetch } from "./discovery_fetch.ts";
import type { CredentialStore, KeptTokens } from "./kept.ts";
import { oauthProvider, type OAuthServer, type Presentation } from "./oauth_client.ts";
import { type Access, type Challenge, challengeOf, NO_CHALLENGE, SignInRequired } from "./required.ts";

type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** One person's access to one server. Nothing of it is told to anybody but that server and its authorisation server. */
export class Credential implements Access {
  readonly #server: OAuthServer;
  readonly #user_id: string;
  readonly #store: CredentialStore;
  readonly #presentation: Presentation;
  #kept: KeptTokens | null = null;
  #is_read = false;
  #renewing: Promise<boolean> | null = null;
  refused = false;
  challenge: Challenge = NO_CHALLENGE;

  constructor(server: OAuthServer, user_id: string, store: CredentialStore, presentation: Presentation) {
    this.#server = server;
    this.#user_id = user_id;
    this.#store = store;
    this.#presentation = presentation;
  }

  /** Each request carries the person's token, which is renewed where it has run out. */
  wrap(send: FetchLike): FetchLike {
    return async (url, init = {}) => {
      const response = await this.#send(send, url, init);
      this.refused = false;
      return response;
    };
  }

  async #send(send: FetchLike, url: string | URL, init: RequestInit): Promise<Response> {
    const token = (await this.#read())?.tokens.access_token ?? null;
    if (token === null) throw this.#signedOut();
    const first = await send(url, withToken(init, token));
    if (!(await this.#isRefused(first))) return first;
    if (!(await this.#renew(token))) throw this.#signedOut();
    const renewed = (await this.#read())?.tokens.access_token ?? null;
    if (renewed === null) throw this.#signedOut();
    const second = await send(url, withToken(init, renewed));
    if (!(await this.#isRefused(second))) return second;
    await this.#forget();
    throw this.#signedOut();
  }

  withoutTokens(text: string): string {
    const { access_token, refresh_token } = this.#kept?.tokens ?? {};
    return [access_token, refresh_token].reduce<string>(
      (clean, token) => (token === undefined || token.length < 8 ? clean : clean.replaceAll(token, "[redacted]")),
      text,
    );
  }

  /** A refusal of the token, whose answer is of no use then; one for want of rights is thrown. */
  async #isRefused(response: Response): Promise<boolean> {
    const challenge = challengeOf(response);
    const wants_more = response.status === 403 && challenge.error === "insufficient_scope";
    if (response.status !== 401 && !wants_more) return false;
    await response.body?.cancel();
    this.challenge = challenge;
    if (wants_more) throw this.#required("It wants more rights than this person gave.");
    return true;
  }

  /** One at a time: a refresh token is good for one use. Answers whether there is another token now. */
  #renew(used: string): Promise<boolean> {
    if (this.#kept?.tokens.access_token !== used) return Promise.resolve(this.#kept !== null);
    this.#renewing ??= this.#refresh().finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #refresh(): Promise<boolean> {
    const kept = this.#kept;
    if (kept?.tokens.refresh_token === undefined) {
      await this.#forget();
      return false;
    }
    const { auth } = await import("@modelcontextprotocol/sdk/client/auth.js");
    const flow = {
      tokens: (): OAuthTokens | undefined => this.#kept?.tokens,
      saveTokens: (tokens: OAuthTokens) => this.#keep({ tokens, discovery: flow.discovery }),
      dropTokens: () => this.#forget(),
      // Nobody stands before a browser here.
      redirect: () => undefined,
      verifier: "",
      state: "",
      discovery: kept.discovery,
    };
    const provider = oauthProvider(this.#server, this.#presentation, this.#store, flow);
    const { url } = this.#server;
    const result = await auth(provider, { serverUrl: url, fetchFn: discoveryFetch(url) });
    if (result === "AUTHORIZED") return true;
    // A refresh that failed for the authorisation server's own reasons may succeed later.
    if (this.#kept !== null) throw new Error("The sign-in cannot be renewed at the moment.");
    return false;
  }

  /** The person has signed in again. */
  forgetRead(): void {
    this.#is_read = false;
    this.#kept = null;
  }

  async #read(): Promise<KeptTokens | null> {
    if (!this.#is_read) this.#kept = await this.#store.tokens(this.#server.name, this.#user_id);
    this.#is_read = true;
    return this.#kept;
  }

  async #keep(kept: KeptTokens): Promise<void> {
    await this.#store.keepTokens(this.#server.name, this.#user_id, kept);
    this.#kept = kept;
  }

  async #forget(): Promise<void> {
    this.#kept = null;
    await this.#store.dropTokens(this.#server.name, this.#user_id);
  }

  #signedOut(): SignInRequired {
    return this.#required("This person is not signed in to it.");
  }

  #required(message: string): SignInRequired {
    this.refused = true;
    return new SignInRequired(message);
  }
}

function withToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}
