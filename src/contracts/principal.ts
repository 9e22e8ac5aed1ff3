import type { ActorRole, Scope } from "../protocol/auth.ts";

/** Who is asking, as `src/auth` established it. */
export interface Principal {
  /** The account; null for the gateway when it acts for nobody. */
  user_id: string | null;
  username: string;
  display_name: string;
  /**
   * Expanded: `approve` brings `write` and `read` along. When acting for a linked person, that person's scopes alone.
   */
  scopes: ReadonlySet<Scope>;
  /** True for the gateway's own credential, also while it acts for a person. */
  is_service: boolean;
  /** The platform user for whom a gateway acts. */
  actor: { channel_type: string; channel_user_id: string } | null;
  /** What the platform's roles allow the actor; null where no gateway says so. */
  role: ActorRole | null;
  /** What the rate limit counts by. */
  credential_id: string;
}
