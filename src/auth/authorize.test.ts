import { expect, test } from "vitest";
import type { Principal } from "../contracts/principal.ts";
import type { ActorRole } from "../protocol/auth.ts";
import { authorize, type WorkstreamAction } from "./authorize.ts";
import { parseScopes } from "./scopes.ts";

const ACTIONS: WorkstreamAction[] = ["see", "speak", "approve", "deny", "close", "steer"];

function principal(user_id: string | null, scopes: string, role: ActorRole | null = null): Principal {
  const is_service = scopes === "service" || role !== null;
  return {
    user_id,
    username: "",
    display_name: "",
    scopes: parseScopes(scopes),
    is_service,
    actor: null,
    role,
    credential_id: "",
  };
}

/** Of each action: `yes`, `no` (forbidden) or `hidden`. */
function rightsOf(who: Principal, invited = false, shown = true): string[] {
  return ACTIONS.map((action) => {
    const answer = authorize(who, action, { owner_id: "anna", invited, shown });
    return answer.allowed ? "yes" : answer.reason === "hidden" ? "hidden" : "no";
  });
}

test.each([
  ["the owner", rightsOf(principal("anna", "approve")), ["yes", "yes", "yes", "yes", "yes", "yes"]],
  [
    "the owner with write alone (APPR-19)",
    rightsOf(principal("anna", "write")),
    ["yes", "yes", "no", "no", "yes", "yes"],
  ],
  ["the owner with read alone", rightsOf(principal("anna", "read")), ["yes", "no", "no", "no", "no", "no"]],
  ["another person with every scope (AUTH-04)", rightsOf(principal("otto", "approve")), Array(6).fill("hidden")],
  ["an invited person", rightsOf(principal("otto", "approve"), true), ["yes", "yes", "no", "no", "no", "no"]],
  [
    "an invited person with read alone",
    rightsOf(principal("otto", "read"), true),
    ["yes", "no", "no", "no", "no", "no"],
  ],
  ["the approve role", rightsOf(principal("otto", "approve", "approve")), ["yes", "no", "yes", "yes", "no", "no"]],
  [
    "the approve role, invited",
    rightsOf(principal("otto", "approve", "approve"), true),
    ["yes", "yes", "yes", "yes", "no", "no"],
  ],
  ["the approve role without the scope", rightsOf(principal("otto", "write", "approve")), Array(6).fill("hidden")],
  ["the admin role", rightsOf(principal("otto", "approve", "admin")), ["yes", "yes", "yes", "yes", "yes", "yes"]],
  ["the talk role", rightsOf(principal("otto", "write", "talk")), Array(6).fill("hidden")],
  ["a gateway for nobody", rightsOf(principal(null, "service")), ["yes", "no", "no", "yes", "yes", "no"]],
  ["a gateway that does not show it", rightsOf(principal(null, "service"), false, false), Array(6).fill("hidden")],
])("%s may see, speak, approve, deny, close and steer as said", (_who, rights, expected) => {
  expect(rights).toEqual(expected);
});

test("a workstream without an owner is nobody's", () => {
  const rights = { owner_id: null, invited: false, shown: true };
  expect(authorize(principal("anna", "approve"), "see", rights).allowed).toBe(false);
});
