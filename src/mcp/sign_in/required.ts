/** A server wants to know a person, and does not. */
export class SignInRequired extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SignInRequired";
  }
}

type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** How requests to one server are let in, and what it said when one was not. */
export interface Access {
  /** True since the last refusal that only a person can mend. */
  readonly refused: boolean;
  /** What that refusal asked for. */
  readonly challenge: Challenge;
  wrap(send: FetchLike): FetchLike;
  /** The text without what this access is granted by, for what a server says back. */
  withoutTokens(text: string): string;
}

/** What a server says with a refusal about how to sign in to it. */
export interface Challenge {
  resource_metadata_url: string | null;
  scope: string | null;
}

export const NO_CHALLENGE: Challenge = { resource_metadata_url: null, scope: null };

/** Reads the `WWW-Authenticate` header of a refusal (RFC 6750, RFC 9728). */
export function challengeOf(response: Response): Challenge & { error: string | null } {
  const header = response.headers.get("www-authenticate") ?? "";
  const field = (name: string): string | null => {
    const found = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,]+))`, "i").exec(header);
    return found?.[1] ?? found?.[2] ?? null;
  };
  const url = field("resource_metadata");
  return {
    resource_metadata_url: url !== null && URL.canParse(url) ? url : null,
    scope: field("scope"),
    error: field("error"),
  };
}

/** The access of nobody in particular, which finds out whether a server wants to know people. */
export class OpenAccess implements Access {
  refused = false;
  challenge: Challenge = NO_CHALLENGE;

  wrap(send: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await send(url, init);
      this.refused = response.status === 401;
      if (!this.refused) return response;
      this.challenge = challengeOf(response);
      await response.body?.cancel();
      throw new SignInRequired("People sign in to it one by one.");
    };
  }

  withoutTokens(text: string): string {
    return text;
  }
}
