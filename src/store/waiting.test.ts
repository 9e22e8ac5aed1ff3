import { expect, test } from "vitest";
import type { ApprovalRow, Change, MessageRow, NotificationRow, ReviewRow } from "../contracts/store.ts";
import type { Grant } from "../protocol/approval.ts";
import { AT, temporaryStore, workstream } from "../../test/support/store_rig.ts";

const MESSAGE: MessageRow = {
  msg_id: "m1",
  ws_id: "a",
  client_send_id: "s1",
  state: "queued",
  answered: "queued",
  content: "hello",
  attachments: [{ attachment_id: "x", filename: "x.txt", media_type: "text/plain", size: 1 }],
  sender: { user_id: "anna", name: "Anna" },
  source: "discord",
  created: AT,
};
const APPROVAL: ApprovalRow = {
  cycle_id: "c1",
  ws_id: "a",
  seq: 3,
  items: [
    {
      call_id: "k",
      header: "bash: ls",
      preview: "ls",
      func_name: "bash",
      approval_label: "bash",
      needs_approval: true,
      error: null,
    },
  ],
  decisions: {},
  state: "pending",
  approved: null,
  decided_by: null,
  reason: null,
  decided: null,
  created: AT,
  expires: null,
};
const REVIEW: ReviewRow = {
  review_id: "r1",
  ws_id: "a",
  seq: 4,
  call_id: "k",
  content: "the plan",
  round: 1,
  state: "pending",
  feedback: null,
  decided_by: null,
  created: AT,
};
const ANNA = { user_id: "anna", name: "Anna" };

async function storeWith(changes: Change[]) {
  const store = await temporaryStore();
  await store.workstreams.create(workstream("a"));
  const change = (...more: Change[]): Promise<void> =>
    store.journal.commit({ ws_id: "a", at: AT, entries: [], changes: more });
  await change(...changes);
  return { store, change };
}

test("a message is queued until it joins, and its client_send_id is accepted once (REQ-STORE-011)", async () => {
  const { store, change } = await storeWith([
    { kind: "message_accepted", message: MESSAGE },
    {
      kind: "message_accepted",
      message: { ...MESSAGE, msg_id: "m0", client_send_id: null, attachments: [], sender: null },
    },
  ]);
  expect((await store.messages.queued("a")).map((message) => message.msg_id)).toEqual(["m1", "m0"]);
  await expect(change({ kind: "message_accepted", message: { ...MESSAGE, msg_id: "m2" } })).rejects.toThrow(
    "messages.client_send_id",
  );
  await change({ kind: "message_joined", msg_id: "m1" }, { kind: "message_withdrawn", msg_id: "m0" });
  expect(await store.messages.queued("a")).toEqual([]);
  expect(await store.messages.byClientSendId("a", "s1")).toEqual({ ...MESSAGE, state: "joined" });
  expect((await store.messages.get("m0"))?.state).toBe("withdrawn");
  await expect(change({ kind: "message_withdrawn", msg_id: "m1" })).rejects.toThrow("is not queued");
  expect(await store.messages.byClientSendId("b", "s1")).toBeNull();
});

test("an approval waits until it is settled, once (REQ-STORE-012)", async () => {
  const { store, change } = await storeWith([
    { kind: "approval_opened", approval: { ...APPROVAL, cycle_id: "c2", seq: 9 } },
    { kind: "approval_opened", approval: APPROVAL },
  ]);
  expect((await store.approvals.pending("a")).map((approval) => approval.cycle_id)).toEqual(["c1", "c2"]);
  const settle = (state: "pending" | "settled", approved: boolean): Change => ({
    kind: "approval_settled",
    cycle_id: "c1",
    decisions: { k: approved },
    state,
    approved,
    decided_by: ANNA,
    reason: "person",
    at: AT,
  });
  await change(settle("pending", true));
  expect(await store.approvals.get("c1")).toMatchObject({ state: "pending", decisions: { k: true } });
  await change(settle("settled", false));
  await expect(change(settle("settled", true))).rejects.toThrow("is not pending");
  expect(await store.approvals.get("c1")).toEqual({
    ...APPROVAL,
    decisions: { k: false },
    state: "settled",
    approved: false,
    decided_by: ANNA,
    reason: "person",
    decided: AT,
  });
  expect(await store.approvals.pending("a")).toHaveLength(1);
});

test("a plan review waits until it is answered, once", async () => {
  const { store, change } = await storeWith([{ kind: "review_opened", review: REVIEW }]);
  expect(await store.approvals.pendingReviews("a")).toEqual([REVIEW]);
  await change({ kind: "review_settled", review_id: "r1", feedback: "", decided_by: ANNA, at: AT });
  expect(await store.approvals.review("r1")).toEqual({ ...REVIEW, state: "settled", feedback: "", decided_by: ANNA });
  expect(await store.approvals.pendingReviews("a")).toEqual([]);
  await expect(
    change({ kind: "review_settled", review_id: "r1", feedback: "x", decided_by: null, at: AT }),
  ).rejects.toThrow("is not pending");
});

test("grants are listed by workstream and person, and end once", async () => {
  const grant: Grant = {
    grant_id: "g1",
    ws_id: "a",
    user_id: "anna",
    tool: "bash",
    match: "prefix",
    pattern: "git ",
    created: AT,
    expires: null,
    revoked: null,
  };
  const wide = { ...grant, grant_id: "g2", ws_id: null, match: "tool" as const, pattern: null };
  const { store } = await storeWith([
    { kind: "grant_added", grant },
    { kind: "grant_added", grant: wide },
  ]);
  expect(await store.approvals.grants({ ws_id: "a" })).toEqual([grant]);
  expect(await store.approvals.grants({ user_id: "anna" })).toEqual([grant, wide]);
  expect(await store.approvals.grants({})).toHaveLength(2);
  expect(await store.approvals.revokeGrant("g1", AT)).toBe(true);
  expect(await store.approvals.revokeGrant("g1", AT)).toBe(false);
  expect((await store.approvals.grants({ ws_id: "a" }))[0]?.revoked).toBe(AT);
});

test("usage is summed by person, workstream and time, and outlives its workstream", async () => {
  const usage = {
    ws_id: "a",
    user_id: "anna",
    model_alias: "default",
    at: AT,
    prompt_tokens: 10,
    completion_tokens: 2,
    cache_read_tokens: 0,
    cache_creation_tokens: 0,
    cost_usd: 0.5,
  };
  const { store } = await storeWith([
    { kind: "usage_added", usage },
    { kind: "usage_added", usage: { ...usage, at: "2025-01-01T00:00:00.000Z", cost_usd: null } },
  ]);
  await store.workstreams.remove("a");
  expect(await store.usage.total({ user_id: "anna", since: AT })).toEqual({
    prompt_tokens: 10,
    completion_tokens: 2,
    cost_usd: 0.5,
  });
  expect(await store.usage.total({ ws_id: "a", since: "2000" })).toEqual({
    prompt_tokens: 20,
    completion_tokens: 4,
    cost_usd: 0.5,
  });
  expect(await store.usage.total({ user_id: "bert", since: "2000" })).toEqual({
    prompt_tokens: 0,
    completion_tokens: 0,
    cost_usd: 0,
  });
});

test("calls at the same time cannot overshoot a turn's notifications; a failed one gives its place back", async () => {
  const { store } = await storeWith([]);
  const row = (notification_id: string, turn_seq = 1): NotificationRow => ({
    notification_id,
    ws_id: "a",
    call_id: null,
    turn_seq,
    target: { username: "anna" },
    title: null,
    message: "hi",
    state: "sending",
    deliveries: [],
    created: AT,
  });
  const opened = await Promise.all(
    Array.from({ length: 9 }, (_, index) => store.notifications.open(row(`n${index}`), 5)),
  );
  expect(opened.filter(Boolean)).toHaveLength(5);
  expect(await store.notifications.open(row("other turn", 2), 5)).toBe(true);
  const failed = [{ channel_type: "discord", channel_id: "1", status: "failed" as const, reason: "closed" }];
  await store.notifications.settle("n0", "failed", failed);
  await store.notifications.settle("n1", "sent", []);
  expect(await store.notifications.get("n0")).toEqual({ ...row("n0"), state: "failed", deliveries: failed });
  expect(await store.notifications.open(row("n9"), 5)).toBe(true);
  expect(await store.notifications.open(row("n10"), 5)).toBe(false);
  expect(await store.notifications.get("n10")).toBeNull();
});

test("attachments keep their bytes until they or their workstream go", async () => {
  const { store } = await storeWith([]);
  const row = {
    attachment_id: "p",
    ws_id: "a",
    user_id: null,
    filename: "p.png",
    media_type: "image/png",
    size: 4,
    width: 1,
    height: 2,
    created: AT,
  };
  const bytes = new Uint8Array([0, 255, 1, 0]);
  await store.attachments.save(row, bytes);
  await store.attachments.save({ ...row, attachment_id: "q" }, bytes);
  expect(await store.attachments.get("p")).toEqual(row);
  expect(new Uint8Array((await store.attachments.bytes("p")) ?? [])).toEqual(bytes);
  expect((await store.attachments.list("a")).map((attachment) => attachment.attachment_id)).toEqual(["p", "q"]);
  expect(await store.attachments.remove("p")).toBe(true);
  expect(await store.attachments.remove("p")).toBe(false);
  expect(await store.attachments.bytes("p")).toBeNull();
  await store.workstreams.remove("a");
  expect(await store.attachments.bytes("q")).toBeNull();
});
