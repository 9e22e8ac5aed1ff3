import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import type { CredentialStore } from "./kept.ts";

/** How this installation presents itself to authorisation servers. */
export interface Presentation {
  redirect_url: string;
  /** Where its metadata can be read; null where nobody outside could. */
  client_metadata_url: string | null;
}

/** A server, and the client that its settings name, if they do. */
export interface OAuthServer {
  name: string;
  url: string;
  client_id: string | null;
  client_secret: string | null;
  scope: string | null;
}

/** What is different from one use of the SDK's flow to the next. */
export interface Flow {
  tokens(): OAuthTokens | undefined;
  saveTokens(tokens: OAuthTokens): Promise<void>;
  dropTokens(): Promise<void>;
  /** Where a person would have to go. */
  redirect(url: URL, verifier: string): void;
  verifier: string;
  state: string;
  discovery: OAuthDiscoveryState | null;
}

export function clientMetadata(presentation: Presentation, scope: string | null): OAuthClientMetadata {
  return {
    client_name: "turnstone",
    redirect_uris: [presentation.redirect_url],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    ...(scope === null ? {} : { scope }),
  };
}

/** The SDK's view of one use of its flow. */
export function oauthProvider(
  server: OAuthServer,
  presentation: Presentation,
  store: CredentialStore,
  flow: Flow,
): OAuthClientProvider {
  const { name, client_id, client_secret } = server;
  let verifier = flow.verifier;
  return {
    redirectUrl: presentation.redirect_url,
    ...(presentation.client_metadata_url === null ? {} : { clientMetadataUrl: presentation.client_metadata_url }),
    clientMetadata: clientMetadata(presentation, server.scope),
    state: () => flow.state,
    async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
      if (client_id !== null) return { client_id, ...(client_secret === null ? {} : { client_secret }) };
      const kept = await store.client(name);
      return kept?.redirect_url === presentation.redirect_url ? kept.client : undefined;
    },
    async saveClientInformation(client) {
      if (client_id === null) await store.keepClient(name, { client, redirect_url: presentation.redirect_url });
    },
    tokens: () => flow.tokens(),
    saveTokens: (tokens) => flow.saveTokens(tokens),
    redirectToAuthorization: (url) => flow.redirect(url, verifier),
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    async invalidateCredentials(scope) {
      if (scope === "all" || scope === "client") await store.dropClient(name);
      if (scope === "all" || scope === "tokens") await flow.dropTokens();
      if (scope === "all" || scope === "discovery") flow.discovery = null;
    },
    saveDiscoveryState(discovery) {
      flow.discovery = discovery;
    },
    discoveryState: () => flow.discovery ?? undefined,
  };
}
