import { expect, test } from "vitest";
import type { ApprovalItem } from "../src/protocol/approval.ts";
import { assistant, startBench, until, userTurn, type Bench } from "./testing/bench.ts";

/*
 * After a reconnection the server tells again what the cursor has not passed. Nothing of it may open a question again
 * that was answered.
 */

/** What a thread shows, as one text. */
function shown(bench: Bench, thread: string): string {
  return bench.practice.channelAsText(thread);
}

/** Cuts the stream and waits until what is told again, and one answer after it, is shown. */
async function reconnect(bench: Bench, ws_id: string, thread: string): Promise<void> {
  bench.server.dropStreams();
  await until(() => bench.server.streams() === 0);
  await until(() => bench.server.streams() > 0);
  bench.server.emit(ws_id, { type: "info", message: "told after the reconnection" });
  await until(() => shown(bench, thread).includes("told after the reconnection"));
}

test("a plan that was accepted is not asked for again after a reconnection", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { ws_id, thread, ...message } = await bench.begin("Ada", "Plan.");
  bench.server.emit(ws_id, userTurn({ ws_id, ...message }));
  bench.server.emit(ws_id, { type: "plan_review", review_id: "r1", call_id: "c", content: "1. Think", round: 1 });
  await until(() => shown(bench, thread).includes("[Accept]"));
  const decided_by = { user_id: "u", name: "Ada" };
  bench.server.emit(ws_id, { type: "plan_resolved", review_id: "r1", feedback: "", decided_by });
  await until(() => shown(bench, thread).includes("Accepted by **Ada**"));
  await reconnect(bench, ws_id, thread);
  expect(shown(bench, thread)).not.toContain("[Accept]");
});

const ITEM: ApprovalItem = {
  call_id: "c1",
  func_name: "bash",
  header: "bash: ls",
  preview: "ls",
  needs_approval: true,
  approval_label: "bash",
  error: null,
};

test("a turn that is over asks nothing again, though its cursor could not be moved", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { ws_id, thread, ...message } = await bench.begin("Ada", "Run it.");
  bench.server.refuse = (request) => (request.url.endsWith("/cursor") ? { status: 500, body: { error: "No." } } : null);
  bench.server.emit(ws_id, userTurn({ ws_id, ...message }));
  bench.server.emit(ws_id, { type: "approve_request", cycle_id: "y1", items: [ITEM] });
  await until(() => shown(bench, thread).includes("[Approve]"));
  bench.server.emit(ws_id, {
    type: "approval_resolved",
    cycle_id: "y1",
    call_ids: ["c1"],
    approved: true,
    calls: { c1: true },
    feedback: null,
    always: false,
    decided_by: { user_id: "u", name: "Ada" },
  });
  bench.server.emit(ws_id, assistant("It ran."));
  bench.server.emit(ws_id, { type: "turn_ended", outcome: "done" });
  await until(() => shown(bench, thread).includes("✓ Done"));
  await reconnect(bench, ws_id, thread);
  expect(shown(bench, thread)).not.toContain("[Approve]");
  expect(shown(bench, thread)).not.toContain("[Stop]");
});

test("a card that a gateway posted and could not save before it was killed is found again, and closed with its turn", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { ws_id, thread, ...message } = await bench.begin("Ada", "Run it.");
  bench.server.emit(ws_id, userTurn({ ws_id, ...message }));
  bench.server.emit(ws_id, { type: "tool_started", call_id: "c1", name: "bash" });
  await until(() => shown(bench, thread).includes("[Stop]"));
  await until(() => bench.server.posted.length > 0);
  bench.server.refuse = (request) =>
    request.url.endsWith("/events") ? { status: 503, body: { error: "Away." } } : null;
  bench.server.dropStreams();
  await until(() => bench.server.streams() === 0);
  bench.server.posted = [];
  bench.server.emit(ws_id, { type: "tool_result", call_id: "c1", name: "bash", output: "", is_error: false });
  bench.server.emit(ws_id, assistant("It ran."));
  bench.server.emit(ws_id, { type: "turn_ended", outcome: "done" });
  await bench.gateway.stop();
  bench.server.refuse = () => null;
  await bench.restart();
  await until(() => shown(bench, thread).includes("It ran."));
  await until(() => bench.server.routes.get(thread)?.cursor_seq === 5);
  expect(shown(bench, thread)).not.toContain("[Stop]");
  expect(shown(bench, thread)).toContain("✓ Done");
});

test("a thread takes its title from a gateway that did not open it, and keeps the name that a person gave it", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const [first, second] = [await bench.begin("Ada", "Plan the trip."), await bench.begin("Ada", "Mend the roof.")];
  for (const { ws_id, thread, ...message } of [first, second]) {
    bench.server.emit(ws_id, userTurn({ ws_id, ...message }));
    bench.server.emit(ws_id, assistant("Gladly."));
    bench.server.emit(ws_id, { type: "turn_ended", outcome: "done" });
    await until(() => (bench.server.routes.get(thread)?.cursor_seq ?? 0) >= 3);
  }
  await bench.gateway.stop();
  bench.practice.admin.renameChannel(second.thread, "Our roof");
  await bench.restart();
  for (const { ws_id } of [second, first]) bench.server.emit(ws_id, { type: "ws_rename", ws_id, name: "A title" });
  const nameOf = (thread: string) => bench.practice.threads().find(({ id }) => id === thread)?.name;
  await until(() => nameOf(first.thread) === "A title");
  expect(nameOf(second.thread)).toBe("Our roof");
});

test("a sub-agent's question of a turn that is over, told again after a reconnection, brings no card back", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { ws_id, thread, ...message } = await bench.begin("Ada", "Let somebody do it.");
  bench.server.emit(ws_id, userTurn({ ws_id, ...message }));
  bench.server.emit(ws_id, assistant("It is done."));
  bench.server.emit(ws_id, { type: "turn_ended", outcome: "done" });
  await until(() => (bench.server.routes.get(thread)?.cursor_seq ?? 0) >= 3);
  const asks = { type: "approve_request" as const, cycle_id: "y1", items: [ITEM] };
  bench.server.emit(ws_id, asks, { child_ws_id: "c", parent_call_id: "t1" });
  bench.server.emit(ws_id, { type: "info", message: "told after the question" });
  await until(() => shown(bench, thread).includes("told after the question"));
  expect(shown(bench, thread)).not.toContain("[Approve]");
  expect(shown(bench, thread)).not.toContain("[Stop]");
});
