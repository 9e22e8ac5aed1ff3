import { expect, test } from "vitest";
import { APPROVED, ASKED, askedItem } from "./testing/approvals.ts";
import { startBench, until, userTurn, type Bench } from "./testing/bench.ts";

/** A conversation of Ada's in whose thread nothing can be shown. */
async function startLockedOut(): Promise<{ bench: Bench; ws_id: string; thread: string }> {
  const bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.practice.faults.onRequest(
    { method: "POST", path: `/channels/${message.thread}/messages` },
    { kind: "status", status: 403, body: { code: 50013, message: "Missing Permissions" } },
  );
  // Ben asked last, but it is Ada's conversation.
  bench.server.emit(message.ws_id, userTurn({ ...message, actor: bench.practice.userId("Ben") }));
  return { bench, ...message };
}

// REQ-DISCORD-019
test("where the thread is locked to us, the owner is asked by DM, once, and the card says there how it ended", async () => {
  const { bench, ws_id } = await startLockedOut();
  await using _closed = bench;
  const { practice, server } = bench;
  server.emit(ws_id, ASKED);
  await practice.waitFor(() => practice.dmAsText("Ada").includes("I ask you here"));
  const card = practice.dm("Ada")[0];
  if (card === undefined) throw new Error("There is no card.");
  await practice.as("Ada").press(card, "Approve");
  const call = await until(() => server.calls.find(({ name }) => name.endsWith("/approve")));
  expect(call).toMatchObject({ actor: practice.userId("Ada"), body: { approved: true, cycle_id: "cycle_1" } });
  await bench.restart();
  server.emit(ws_id, APPROVED);
  await practice.waitFor(() => practice.dmAsText("Ada").includes("✅ Approved by **Ada**"));
  expect(practice.dm("Ada")).toHaveLength(2);
  expect(practice.dmAsText("Ada")).not.toContain("[Approve]");
  expect(practice.dm("Ben")).toEqual([]);
});

test("a plan that cannot be shown in the thread is shown to its owner by DM", async () => {
  const { bench, ws_id } = await startLockedOut();
  await using _closed = bench;
  const { practice, server } = bench;
  server.emit(ws_id, { type: "plan_review", review_id: "review_1", call_id: "call_1", content: "1. Look.", round: 1 });
  await practice.waitFor(() => practice.dmAsText("Ada").includes("[Accept]"));
  const decided = { decided_by: { user_id: "ada", name: "Ada" }, reason: "person" } as const;
  server.emit(ws_id, { type: "plan_resolved", review_id: "review_1", feedback: "", ...decided });
  await practice.waitFor(() => practice.dmAsText("Ada").includes("✅ Accepted by **Ada**"));
});

test("where nobody can be asked the answer is no, in nobody's name, as soon as the server takes it", async () => {
  const { bench, ws_id } = await startLockedOut();
  await using _closed = bench;
  const { practice, server } = bench;
  practice.faults.closeDms("Ada", true);
  let refused = 0;
  server.refuse = ({ url }) => {
    if (!url.endsWith("/approve") || refused === 2) return null;
    refused += 1;
    return { status: 503, body: { error: "The server is starting." } };
  };
  server.emit(ws_id, ASKED);
  const call = await until(() => server.calls.find(({ name }) => name.endsWith("/approve")));
  expect(call).toMatchObject({ actor: "", body: { approved: false, cycle_id: "cycle_1" } });
  expect(refused).toBe(2);
  server.emit(ws_id, { type: "plan_review", review_id: "review_1", call_id: "call_2", content: "1. Look.", round: 1 });
  const rejection = await until(() => server.calls.find(({ name }) => name.endsWith("/plan")));
  expect(rejection).toMatchObject({ actor: "", body: { feedback: "reject", review_id: "review_1" } });
});

test("a sub-agent's card says that a sub-agent asks, and for which task", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { ws_id, thread, ...message } = await bench.begin("Ada", "go");
  const task = askedItem({ call_id: "call_0", header: "task: count the **files**", needs_approval: false });
  bench.server.emit(ws_id, userTurn({ ...message, ws_id }));
  bench.server.emit(ws_id, { type: "tool_info", items: [task] });
  bench.server.emit(ws_id, ASKED, { child_ws_id: "c".repeat(32), parent_call_id: "call_0" });
  await bench.sees(thread, "For a sub-agent: `task: count the **files**`");
});
