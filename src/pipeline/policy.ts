import type { Grant } from "../protocol/approval.ts";

/** A rule of `[[approval.rules]]`. */
export interface ApprovalRule {
  /** A tool's name; `*` for every tool, `mcp__github__*` for a family. */
  tool: string;
  /** Against the primary argument or path; absent matches all. */
  pattern?: string;
  action: "allow" | "ask" | "deny";
  /** User names; absent means everybody. */
  users?: readonly string[];
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
  username: string | null;
  /** Every call runs unasked: the workstream's own setting, or `--skip-permissions`. */
  auto_approve: boolean;
  auto_approve_tools: readonly string[];
  /** Inside a sub-agent these run unasked. */
  sub_agent_auto: ReadonlySet<string> | null;
  /** ISO 8601; grants that have run out do not count. */
  now: string;
  /** Whether a pattern or prefix covers a subject: whole words for shell commands. */
  covers(call: PolicyCall, match: "exact" | "prefix" | "glob", pattern: string): boolean;
}

export type Verdict = { verdict: "run" } | { verdict: "ask" } | { verdict: "deny"; error: string };

/**
 * Decides what a prepared call needs, in this order: deny rules; a rescued call; rules that ask; the tool's own word;
 * grants and allow rules; the workstream's auto-approve; ask.
 */
export function decide(call: PolicyCall, inputs: PolicyInputs): Verdict {
  const rules = inputs.rules.filter((rule) => ruleApplies(rule, call, inputs));
  if (rules.some((rule) => rule.action === "deny")) {
    return { verdict: "deny", error: `Denied by a rule of this server: ${call.name} is not allowed here. It was not run.` };
  }
  const unasked = isPermitted(call, rules, inputs);
  if (call.rescued && call.effect === "side_effect") {
    if (!unasked && inputs.sub_agent_auto === null) return { verdict: "ask" };
    const error = `The arguments of ${call.name} were not valid JSON, and nobody would have seen what was made of them. It was not run. Send them again as one valid JSON object.`;
    return { verdict: "deny", error };
  }
  if (rules.some((rule) => rule.action === "ask")) return { verdict: "ask" };
  return unasked || !call.needs_approval ? { verdict: "run" } : { verdict: "ask" };
}

/** Somebody said beforehand that such a call needs no yes. */
function isPermitted(call: PolicyCall, rules: readonly ApprovalRule[], inputs: PolicyInputs): boolean {
  // A label of its own, such as that of a path outside the workspace, is more than what the tool is known for.
  if (inputs.sub_agent_auto?.has(call.name) === true && call.approval_label === call.name) return true;
  if (inputs.grants.some((grant) => grantCovers(grant, call, inputs))) return true;
  if (rules.some((rule) => rule.action === "allow")) return true;
  return inputs.auto_approve || inputs.auto_approve_tools.some((name) => name === call.name || name === call.approval_label);
}

function ruleApplies(rule: ApprovalRule, call: PolicyCall, inputs: PolicyInputs): boolean {
  if (!nameMatches(rule.tool, call.name)) return false;
  if (rule.users !== undefined && (inputs.username === null || !rule.users.includes(inputs.username))) return false;
  return rule.pattern === undefined || inputs.covers(call, "glob", rule.pattern);
}

function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function grantCovers(grant: Grant, call: PolicyCall, inputs: PolicyInputs): boolean {
  if (grant.revoked !== null || (grant.expires !== null && grant.expires <= inputs.now)) return false;
  if (grant.tool !== call.name && grant.tool !== call.approval_label) return false;
  if (grant.match === "tool") return true;
  return grant.pattern !== null && inputs.covers(call, grant.match, grant.pattern);
}
