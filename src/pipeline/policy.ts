import type { Grant } from "../protocol/approval.ts";
import { permits, touches } from "./covers.ts";

/** A rule of `[[approval.rules]]`. */
export interface ApprovalRule {
  /** A tool's name; a `*` at its end stands for any rest, such as `mcp__github__*`. */
  tool: string;
  /** Against the command, path or address; null matches every call of the tool. */
  pattern: string | null;
  action: "allow" | "ask" | "deny";
  /** Names of the users it is for; empty for everybody. One of several is enough to forbid, all must be to allow. */
  users: readonly string[];
  /** What people and the model are told when it denies. */
  reason: string | null;
}

/** A prepared call as policy sees it. */
export interface PolicyCall {
  name: string;
  approval_label: string;
  subject: string;
  effect: "none" | "side_effect";
  /** What the tool's own preparation says. */
  needs_approval: boolean;
  rescued: boolean;
}

/** All that is decided from. */
export interface PolicyInputs {
  rules: readonly ApprovalRule[];
  grants: readonly Grant[];
  /** The owner's, and that of each guest whose words the turn follows. */
  usernames: readonly string[];
  /** Every call runs unasked: the workstream's own setting while its owner alone speaks, or `--skip-permissions`. */
  auto_approve: boolean;
  auto_approve_tools: readonly string[];
  /** What is asked waits for a person, whatever a judge thinks of it: the turn follows a guest's words. */
  person_only: boolean;
  /** Inside a sub-agent these run unasked. */
  sub_agent_auto: ReadonlySet<string> | null;
  /** ISO 8601; grants that have run out do not count. */
  now: string;
}

/** `person_only`: a rule, a doubt about one or a guest's words want a person to look; no judge may stand in. */
export type Verdict =
  | { verdict: "run" }
  | { verdict: "ask"; person_only: boolean }
  | { verdict: "deny"; error: string };

/**
 * Decides what a prepared call needs, in this order: deny rules; a rescued call; rules that ask; the tool's own word;
 * grants and allow rules; the workstream's auto-approve; ask. Where a deny rule may or may not be meant, a person
 * decides.
 */
export function decide(call: PolicyCall, inputs: PolicyInputs): Verdict {
  const rules = inputs.rules.filter((rule) => isFor(rule, call, inputs));
  const denied = coverage(rules, "deny", call);
  if (denied.rule !== null) return { verdict: "deny", error: denialOf(call, denied.rule) };
  const permitted = isPermitted(call, rules, inputs);
  if (call.rescued && call.effect === "side_effect") {
    if (!permitted && inputs.sub_agent_auto === null) return { verdict: "ask", person_only: true };
    return { verdict: "deny", error: unseenRepair(call) };
  }
  const asked = coverage(rules, "ask", call);
  if (denied.unsure || asked.unsure || asked.rule !== null) return { verdict: "ask", person_only: true };
  return permitted || !call.needs_approval ? { verdict: "run" } : { verdict: "ask", person_only: inputs.person_only };
}

function denialOf(call: PolicyCall, rule: ApprovalRule): string {
  const why = rule.reason ?? `${call.name} is not allowed here in this way`;
  return `Denied by a rule of this server: ${why.replace(/\.$/, "")}. It was not run; do not try to reach the same end another way.`;
}

function unseenRepair(call: PolicyCall): string {
  return (
    `The arguments of ${call.name} were not valid JSON, and nobody would have seen what was made of them. ` +
    "It was not run. Send them again as one valid JSON object."
  );
}

function coverage(
  rules: readonly ApprovalRule[],
  action: "ask" | "deny",
  call: PolicyCall,
): { rule: ApprovalRule | null; unsure: boolean } {
  let unsure = false;
  for (const rule of rules) {
    if (rule.action !== action) continue;
    const covered = rule.pattern === null ? "yes" : touches(call, rule.pattern);
    if (covered === "yes") return { rule, unsure };
    unsure ||= covered === "unsure";
  }
  return { rule: null, unsure };
}

/** Somebody said beforehand that such a call needs no yes. */
function isPermitted(call: PolicyCall, rules: readonly ApprovalRule[], inputs: PolicyInputs): boolean {
  const { name, approval_label } = call;
  // A label of its own, such as that of a path outside the workspace, is more than what the tool is known for.
  if (inputs.sub_agent_auto?.has(name) === true && approval_label === name) return true;
  if (inputs.grants.some((grant) => grantCovers(grant, call, inputs.now))) return true;
  const allows = (rule: ApprovalRule): boolean =>
    rule.action === "allow" && (rule.pattern === null || permits(call, "glob", rule.pattern));
  if (rules.some(allows)) return true;
  return inputs.auto_approve || inputs.auto_approve_tools.some((tool) => tool === name || tool === approval_label);
}

function isFor(rule: ApprovalRule, call: PolicyCall, { usernames }: PolicyInputs): boolean {
  if (!nameMatches(rule.tool, call.name)) return false;
  if (rule.users.length === 0) return true;
  const isNamed = (username: string): boolean => rule.users.includes(username);
  return rule.action === "allow" ? usernames.length > 0 && usernames.every(isNamed) : usernames.some(isNamed);
}

function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function grantCovers(grant: Grant, call: PolicyCall, now: string): boolean {
  if (grant.revoked !== null || (grant.expires !== null && grant.expires <= now)) return false;
  if (grant.tool !== call.approval_label) return false;
  if (grant.match === "tool") return true;
  return grant.pattern !== null && permits(call, grant.match, grant.pattern);
}
