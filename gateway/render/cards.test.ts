import { expect, test } from "vitest";
import type { ApprovalItem } from "../../src/protocol/approval.ts";
import { askedItem } from "../testing/approvals.ts";
import { approvalCard, type ApprovalCardState, type CallDecision } from "./approval.ts";
import { decodeCustomId, encodeCustomId } from "./custom_id.ts";
import { foldedCard, liveCard } from "./live.ts";
import { planCard } from "./plan.ts";
import type { CardView } from "./view.ts";
import { failureView, notificationViews } from "./words.ts";

function card(items: ApprovalItem[], decisions: [string, CallDecision][] = []): CardView {
  const state: ApprovalCardState = {
    cycle_id: "cycle_1",
    items,
    expires_at: null,
    decisions: new Map(decisions),
    asked: "<@1>",
    task: null,
    assessments: new Map(),
    no_opinion: null,
  };
  return approvalCard(state);
}

function textOf(view: CardView): string {
  return view.blocks.map((block) => (block.kind === "text" ? block.text : "")).join("\n");
}

function buttonsOf(view: CardView): string[] {
  return view.blocks.flatMap((block) =>
    block.kind === "buttons" ? block.buttons.map((button) => (button.kind === "press" ? button.id : "")) : [],
  );
}

function partsOf(view: CardView): number {
  return 1 + view.blocks.reduce((sum, block) => sum + 1 + (block.kind === "buttons" ? block.buttons.length : 0), 0);
}

test("every line of a command is on the card, invisible characters by name (APPR-16, REQ-DISCORD-025)", () => {
  const view = card([askedItem({ preview: "ls\nrm -rf x \u202e cba\u200b" })]);
  expect(textOf(view)).toContain("rm -rf x ⟨U+202E⟩ cba⟨U+200B⟩");
  expect(view.colour).toBe("orange");
  expect(buttonsOf(view)).toEqual(["approve:cycle_1", "deny:cycle_1", "deny_reason:cycle_1", "always:cycle_1"]);
});

test("a warning stands on the card to its end", () => {
  const warning = "This runs without a sandbox: the code can read files and use the network.";
  expect(textOf(card([askedItem({ notes: [warning] })])).replaceAll("\\", "")).toContain(warning);
});

test("a long preview is cut between lines, and a decided card offers nothing", () => {
  const lines = Array.from({ length: 300 }, (_, index) => `echo "step ${index} of many"`);
  const text = textOf(card([askedItem({ preview: lines.join("\n") })]));
  const shown = text.split("\n").filter((line) => line.startsWith("echo"));
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.every((line) => lines.includes(line))).toBe(true);
  expect(text).toContain("“Always…” can cover");
  const decision = { approved: true, reason: "person", by: "Ada", at: null, feedback: null, always: false } as const;
  expect(textOf(card([askedItem()], [["call_1", decision]]))).not.toContain("Always");
});

test("a command cannot break out of its block (DREN-09)", () => {
  const text = textOf(
    card([askedItem({ header: "bash: `x` | > \u001b[31m", preview: "echo '```' | cat > f \u001b[31m" })]),
  );
  expect(text.match(/```/g)).toHaveLength(2);
  expect(text).toContain("⟨U+001B⟩[31m");
  expect(text).toContain("| cat > f");
});

test("a long script shows head and tail and is attached whole", () => {
  const preview = `start\n${"middle\n".repeat(2000)}end`;
  const view = card([askedItem({ preview, destructive: true })]);
  expect(textOf(view).length).toBeLessThan(4000);
  expect(textOf(view)).toContain("start");
  expect(textOf(view)).toContain("end");
  const left_out = /… (\d+) lines more/.exec(textOf(view))?.[1];
  expect(Number(left_out) + (textOf(view).match(/middle/g) ?? []).length).toBe(2000);
  expect(new TextDecoder().decode(view.files[0]?.bytes)).toBe(preview);
  expect(view.blocks).toContainEqual({ kind: "file", name: view.files[0]?.name });
  expect(view.colour).toBe("red");
});

test("any number of calls keeps the platform's limits", () => {
  for (const count of [1, 2, 5, 6, 8, 9, 40, 128]) {
    const items = Array.from({ length: count }, (_unused, index) =>
      askedItem({
        call_id: `call_${index}`,
        header: `bash: ${"h".repeat(300)}`,
        preview: "x".repeat(3000),
        notes: ["n".repeat(400), "n", "n", "n"],
      }),
    );
    const view = card(items);
    expect(textOf(view).length).toBeLessThanOrEqual(4000);
    expect(partsOf(view)).toBeLessThanOrEqual(40);
    expect(view.files.length).toBeLessThanOrEqual(10);
    expect(buttonsOf(view)).toContain("approve:cycle_1");
  }
});

// REQ-DISCORD-026
test("a call that cannot run is never approvable, one that runs unasked is named (APPR-09, APPR-10)", () => {
  const view = card([
    askedItem(),
    askedItem({ call_id: "call_2", header: "bash: broken", error: "no such folder" }),
    askedItem({ call_id: "call_3", header: "search: x", needs_approval: false }),
    askedItem({ call_id: "call_4", header: "dance: cannot run", error: "no such tool" }),
  ]);
  expect(buttonsOf(view)).toHaveLength(4);
  expect(textOf(view)).toContain("cannot run: no such folder");
  expect(textOf(view)).toContain("`dance` cannot run: no such tool");
  expect(textOf(view)).toContain("`search: x` runs without asking");
});

test("a decided card says what, who and when, and has no buttons (REQ-DISCORD-027)", () => {
  const decision: CallDecision = {
    approved: false,
    reason: "person",
    by: "Ada",
    at: "2026-12-01T12:03:00.000Z",
    feedback: "not *today*",
    always: false,
  };
  const view = card([askedItem()], [["call_1", decision]]);
  expect(textOf(view)).toContain("⛔ Denied by **Ada** at <t:1796126580:t>: “not \\*today\\*”");
  expect(buttonsOf(view)).toEqual([]);
  expect(textOf(card([askedItem()], [["call_1", { ...decision, reason: "expired", by: null }]]))).toContain(
    "Nobody answered in time",
  );
});

test("custom ids come back as they were, or are not made (APPR-07)", () => {
  expect(decodeCustomId(encodeCustomId("approve", "c:1%", "call:2") ?? "")).toEqual({
    verb: "approve",
    subject: "c:1%",
    call_id: "call:2",
  });
  expect(encodeCustomId("approve", "c", "x".repeat(100))).toBeNull();
  expect(decodeCustomId("hello")).toBeNull();
});

test("the live card shows the last steps and Stop, and folds to one line", () => {
  const tools = Array.from({ length: 9 }, (_unused, index) => ({
    call_id: `${index}`,
    header: `bash: step ${index}`,
    status: "done" as const,
    last_line: "",
    nested: false,
  }));
  const live = {
    turn_seq: 3,
    state: "running" as const,
    started_at: null,
    tools,
    queued: [{ msg_id: "m", content: "and *this*" }],
  };
  expect(textOf(liveCard(live))).toContain("3 earlier steps");
  expect(textOf(liveCard(live))).toContain("✓ `bash: step 8`");
  expect(textOf(liveCard(live))).toContain("Queued: and \\*this\\*");
  expect(buttonsOf(liveCard(live))).toEqual(["stop:3"]);
  expect(textOf(foldedCard(live, "done", 12_000, null))).toBe("-# ✓ Done · 9 steps · 12 s");
  const refused = {
    ...live,
    tools: live.tools.map((tool, index) => (index < 2 ? { ...tool, status: "denied" as const } : tool)),
  };
  expect(textOf(foldedCard(refused, "done", null, null))).toBe("-# ✓ Done · 9 steps, 2 denied");
});

test("a long plan is attached; a decided one has no buttons", () => {
  const open = planCard("r1", "step\n".repeat(2000), 2, null);
  expect(open.files[0]?.name).toBe("plan.md");
  expect(buttonsOf(open)).toEqual(["plan_accept:r1", "plan_changes:r1", "plan_reject:r1"]);
  expect(textOf(planCard("r1", "x", 1, { feedback: "reject", by: "Ada", at: null }))).toContain(
    "⛔ Rejected by **Ada**",
  );
});

test("a title cannot break out, and title and message are split under the limit (NTFY-16)", () => {
  expect(notificationViews("**x**\n@everyone `", "m")[0]?.text).toBe("**\\*\\*x\\*\\* \\@everyone \\`**\nm");
  const views = notificationViews("t", "y".repeat(2000));
  expect(views).toHaveLength(2);
  expect(views.every((view) => view.text.length <= 2000)).toBe(true);
});

test("a failure has one message with Retry", () => {
  const view = failureView(
    { code: "model_overloaded", message: "The model is overloaded.", retry_at: "2026-12-01T12:03:00.000Z" },
    9,
  );
  expect(view.text).toContain("The model is overloaded.");
  expect(view.buttons).toEqual([{ kind: "press", id: "retry:9", label: "Retry", style: "neutral" }]);
});
