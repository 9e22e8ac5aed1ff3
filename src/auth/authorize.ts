import type { Principal } from "../contracts/principal.ts";
import type { Scope } from "../protocol/auth.ts";

/**
 * What a person can want of a workstream. `steer` changes it: rewind, delete, invite. `deny` says no to what is asked, as a
 * gateway does that can ask nobody.
 */
export type WorkstreamAction = "see" | "speak" | "approve" | "deny" | "close" | "steer";

/** What about a workstream decides rights. */
export interface WorkstreamRights {
  owner_id: string | null;
  /** Whether the person who asks was invited. */
  invited: boolean;
  /** Whether it is shown on a chat platform. */
  shown: boolean;
}

export type Authorization =
  | { allowed: true }
  /** `hidden`: the person must not learn that it exists. `forbidden`: they see it, but may not do this. */
  | { allowed: false; reason: "hidden" | "forbidden" };

const ALLOWED: Authorization = { allowed: true };

const SCOPE_NEEDED = {
  see: "read",
  speak: "write",
  approve: "approve",
  deny: "approve",
  close: "write",
  steer: "write",
} as const satisfies Record<WorkstreamAction, Scope>;

/**
 * Whether a person may do this to that workstream: the one place that says so. Owners may all that their scopes allow,
 * the invited see and speak, the platform's approve role decides in others' workstreams and its admin role steers
 * them too. Everyone else sees nothing. A gateway that acts for nobody reads what it shows, closes it when its thread
 * is gone, and says no where it can ask nobody.
 */
export function authorize(principal: Principal, action: WorkstreamAction, rights: WorkstreamRights): Authorization {
  if (principal.user_id === null) return authorizeGateway(principal, action, rights.shown);
  const owner = rights.owner_id !== null && rights.owner_id === principal.user_id;
  const manages = (principal.role === "approve" || principal.role === "admin") && principal.scopes.has("approve");
  if (!owner && !rights.invited && !manages) return { allowed: false, reason: "hidden" };
  if (!principal.scopes.has(SCOPE_NEEDED[action])) return { allowed: false, reason: "forbidden" };
  return owner || mayAsGuest(action, rights.invited, manages, principal.role === "admin")
    ? ALLOWED
    : { allowed: false, reason: "forbidden" };
}

function authorizeGateway(principal: Principal, action: WorkstreamAction, shown: boolean): Authorization {
  if (!principal.is_service || !shown) return { allowed: false, reason: "hidden" };
  return action === "see" || action === "close" || action === "deny"
    ? ALLOWED
    : { allowed: false, reason: "forbidden" };
}

function mayAsGuest(action: WorkstreamAction, invited: boolean, manages: boolean, admin: boolean): boolean {
  const allowed: Record<WorkstreamAction, boolean> = {
    see: true,
    speak: invited || (manages && admin),
    approve: manages,
    deny: manages,
    close: manages && admin,
    steer: manages && admin,
  };
  return allowed[action];
}
