import { expect, test } from "vitest";
import type { Grant } from "../protocol/approval.ts";
import { decide, type ApprovalRule, type PolicyCall, type PolicyInputs } from "./policy.ts";

function bash(subject: string, fields: Partial<PolicyCall> = {}): PolicyCall {
  const effect = "side_effect" as const;
  return { name: "bash", approval_label: "bash", subject, effect, needs_approval: true, rescued: false, ...fields };
}

function inputs(fields: Partial<PolicyInputs> = {}): PolicyInputs {
  return {
    rules: [],
    grants: [],
    usernames: ["ada"],
    auto_approve: false,
    auto_approve_tools: [],
    person_only: false,
    sub_agent_auto: null,
    now: "2026-01-01T00:00:00.000Z",
    ...fields,
  };
}

function rule(
  action: ApprovalRule["action"],
  pattern: string | null,
  fields: Partial<ApprovalRule> = {},
): ApprovalRule {
  return { tool: "bash", pattern, action, users: [], reason: null, ...fields };
}

function grant(match: Grant["match"], pattern: string | null, fields: Partial<Grant> = {}): Grant {
  const times = { created: "2025-01-01T00:00:00.000Z", expires: null, revoked: null };
  return { grant_id: "g", ws_id: null, user_id: "u", tool: "bash", match, pattern, ...times, ...fields };
}

const verdict = (call: PolicyCall, given: PolicyInputs): string => decide(call, given).verdict;

test("without rules and grants a call with side effects is asked for", () => {
  expect(verdict(bash("ls"), inputs())).toBe("ask");
});

test.each([
  ["git status", "run"],
  ["git status --short", "run"],
  ["git status 2>&1", "run"],
  ["git statusx", "ask"],
  ["git status; rm -rf x", "ask"],
  ["git status && rm -rf x", "ask"],
  ["git status | sh", "ask"],
  ["git status > /etc/passwd", "ask"],
  ["git status $(rm -rf x)", "ask"],
  ["git status `rm -rf x`", "ask"],
  ["git status\nrm -rf x", "ask"],
  ["GIT_DIR=/x git status", "ask"],
  ["git status & rm x", "ask"],
  ["cd x && rm -rf y", "ask"],
])("a grant for what begins with `git status`: %j is %s (APPR-18)", (command, expected) => {
  expect(verdict(bash(command), inputs({ grants: [grant("prefix", "git status")] }))).toBe(expected);
});

test("an exact grant covers that text alone (REQ-ENGINE-028)", () => {
  const given = inputs({ grants: [grant("exact", "make test")] });
  expect(verdict(bash("make test"), given)).toBe("run");
  expect(verdict(bash("make test "), given)).toBe("ask");
});

test("grants that ran out or were taken back do not count, nor do those for another label (REQ-ENGINE-029)", () => {
  const old = grant("tool", null, { expires: "2025-12-31T00:00:00.000Z" });
  const revoked = grant("tool", null, { revoked: "2025-12-31T00:00:00.000Z" });
  expect(verdict(bash("ls"), inputs({ grants: [old, revoked] }))).toBe("ask");
  const write = bash("a.txt", { name: "write_file", approval_label: "overwrite_file" });
  expect(verdict(write, inputs({ grants: [grant("tool", null, { tool: "write_file" })] }))).toBe("ask");
});

test("deny wins over grants, allow rules, auto-approve and --skip-permissions (APPR-17, REQ-ENGINE-026)", () => {
  const given = inputs({
    rules: [rule("allow", "git *"), rule("deny", "git push *")],
    grants: [grant("tool", null)],
    auto_approve: true,
  });
  expect(verdict(bash("git push origin main"), given)).toBe("deny");
  expect(verdict(bash("echo ok; git push origin main"), given)).toBe("deny");
  expect(verdict(bash("git log"), given)).toBe("run");
});

// REQ-ENGINE-027
test("a script in which a forbidden command may hide is shown to a person, whatever was allowed", () => {
  const given = inputs({ rules: [rule("deny", "rm *")], auto_approve: true });
  expect(verdict(bash("$CMD -rf x"), given)).toBe("ask");
  expect(verdict(bash("ls"), given)).toBe("run");
});

test("a rule can be for some people only, and a rule that asks beats a grant", () => {
  const given = inputs({ rules: [rule("ask", "git push *", { users: ["ben"] })], grants: [grant("tool", null)] });
  expect(verdict(bash("git push x"), given)).toBe("run");
  expect(verdict(bash("git push x"), { ...given, usernames: ["ben"] })).toBe("ask");
});

test("a rescued call with side effects is asked for, and refused where nobody would see it (REQ-ENGINE-030)", () => {
  const rescued = bash("ls", { rescued: true });
  expect(verdict(rescued, inputs())).toBe("ask");
  expect(verdict({ ...rescued, needs_approval: false }, inputs())).toBe("ask");
  expect(verdict(rescued, inputs({ auto_approve: true }))).toBe("deny");
  expect(verdict(rescued, inputs({ grants: [grant("tool", null)] }))).toBe("deny");
  expect(verdict(rescued, inputs({ sub_agent_auto: new Set() }))).toBe("deny");
});

test("inside a sub-agent the tools for it run unasked, but not beyond the workspace", () => {
  const read = bash("a.txt", { name: "read_file", approval_label: "read_file", effect: "none" });
  const given = inputs({ sub_agent_auto: new Set(["read_file"]) });
  expect(verdict(read, given)).toBe("run");
  expect(verdict({ ...read, approval_label: "read_outside_file" }, given)).toBe("ask");
});

test("an MCP tool that is named like a built-in one gets none of its rules (MCP-08, REQ-MCP-002)", () => {
  const call = bash("ls", { name: "mcp__x__bash", approval_label: "mcp__x__bash" });
  expect(verdict(call, inputs({ rules: [rule("allow", null)], grants: [grant("tool", null)] }))).toBe("ask");
});

test("a rule for some allows nothing to a guest of theirs, and one that forbids a guest holds for both", () => {
  const both = { usernames: ["ada", "ben"] };
  const allows = rule("allow", "git status *", { users: ["ada"] });
  expect(verdict(bash("git status"), inputs({ rules: [allows] }))).toBe("run");
  expect(verdict(bash("git status"), inputs({ ...both, rules: [allows] }))).toBe("ask");
  const denies = rule("deny", "git status *", { users: ["ben"] });
  expect(verdict(bash("git status"), inputs({ rules: [denies] }))).toBe("ask");
  expect(verdict(bash("git status"), inputs({ ...both, rules: [denies] }))).toBe("deny");
});
