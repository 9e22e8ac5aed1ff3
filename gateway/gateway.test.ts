import { expect, test } from "vitest";
import type { Event } from "../src/protocol/event.ts";
import { APPROVED, ASKED, askedItem } from "./testing/approvals.ts";
import { assistant, startBench, until, userTurn, type Bench } from "./testing/bench.ts";

const STATUS: Event = {
  type: "status",
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  context_window: 100,
  pct: 15,
  effort: "",
  model_alias: "test",
  duration_ms: 100,
};

/** How many messages in a channel show a text. */
function count(bench: Bench, channel: string, text: string): number {
  return bench.practice.messages(channel).filter((message) => bench.practice.messageAsText(message).includes(text))
    .length;
}

test("a mention opens a thread, and the answer appears in it with its figures", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "What is **2+2**?\nPlease.");
  expect(message.message).toBe("What is **2+2**?\nPlease.");
  expect(bench.practice.threads("general").map((thread) => thread.name)).toEqual(["What is 2+2?"]);
  bench.turn(message, [
    { type: "thinking_start", model_call_id: "1.1", model_alias: "test" },
    { type: "content", text: "It " },
    { type: "content", text: "is" },
    assistant("It is 4."),
    STATUS,
  ]);
  await bench.sees(message.thread, "-# test");
  expect(count(bench, message.thread, "It is 4.")).toBe(1);
  expect(bench.practice.unserved).toEqual([]);
});

// REQ-DISCORD-013
test("an answer streams by edits of one message, and its final text is whole (DREN-11, DREN-12)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Count.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, { type: "thinking_start", model_call_id: "1.1", model_alias: "test" });
  bench.server.emit(message.ws_id, { type: "content", text: "one " });
  const first = await bench.sees(message.thread, "one");
  bench.server.emit(message.ws_id, { type: "content", text: "two " });
  await bench.sees(message.thread, "one two");
  bench.server.emit(message.ws_id, assistant("one two three"));
  const last = await bench.sees(message.thread, "one two three");
  expect(last.id).toBe(first.id);
});

test("text, a tool and text again are separate messages in order (DREN-17)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Look.");
  bench.turn(message, [
    assistant("I look.", "1.1"),
    { type: "tool_info", items: [askedItem({ needs_approval: false, header: "read_file: a.txt" })] },
    { type: "tool_started", call_id: "call_1", name: "read_file" },
    { type: "tool_result", call_id: "call_1", name: "read_file", output: "x", is_error: false },
    assistant("I saw x.", "1.2"),
    STATUS,
  ]);
  await bench.sees(message.thread, /✓ Done · 1 step/);
  const texts = bench.practice.messages(message.thread).map((each) => bench.practice.messageAsText(each));
  const first = texts.findIndex((text) => text.includes("I look."));
  const second = texts.findIndex((text) => text.includes("I saw x."));
  expect(first).toBeGreaterThanOrEqual(0);
  expect(second).toBeGreaterThan(first);
});

test("an approval is asked, pressed, and rewritten with who and when", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "List.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  const card = await bench.sees(message.thread, "may I do this");
  const answer = await bench.practice.as("Ada").press(card, "Approve");
  expect(answer.outcome).toBe("acknowledged");
  const call = await until(() => bench.server.calls.find(({ name }) => name.endsWith("/approve")));
  expect(call.body).toEqual({ approved: true, cycle_id: "cycle_1" });
  expect(call.actor).toBe(bench.practice.userId("Ada"));
  bench.server.emit(message.ws_id, APPROVED);
  const decided = await bench.sees(message.thread, "✅ Approved by **Ada**");
  expect(decided.id).toBe(card.id);
  await expect(bench.practice.as("Ada").press(decided, "Approve")).rejects.toThrow(/Approve/);
});

test("a late press learns who was first (APPR-13, REQ-DISCORD-014)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "List.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  const card = await bench.sees(message.thread, "may I do this");
  const body = { error: "Decided.", cycle_id: "cycle_1", approved: true, decided_by: { user_id: "g", name: "Grace" } };
  bench.server.refuse = (request) => (request.url.endsWith("/approve") ? { status: 409, body } : null);
  await bench.practice.as("Ada").press(card, "Deny");
  const seen = await bench.practice.waitFor(() =>
    /already approved by .*/.exec(bench.practice.as("Ada").channelAsText(message.thread)),
  );
  expect(seen[0]).toContain("**Grace**");
});

test("a denial's reason goes to the model", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "List.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  const ada = bench.practice.as("Ada");
  const form = await ada.press(await bench.sees(message.thread, "may I do this"), "Deny with reason…");
  if (form.outcome !== "modal") throw new Error(form.outcome);
  await ada.submit(form, { reason: "use find" });
  const call = await until(() => bench.server.calls.find(({ name }) => name.endsWith("/approve")));
  expect(call.body).toEqual({ approved: false, feedback: "use find", cycle_id: "cycle_1" });
});

test("always offers how far, and grants what was chosen (REQ-DISCORD-015)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "List.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, {
    type: "approve_request",
    cycle_id: "cycle_1",
    items: [askedItem({ preview: "git status -s" })],
  });
  const ada = bench.practice.as("Ada");
  const answer = await ada.press(await bench.sees(message.thread, "may I do this"), "Always…");
  if (!("message" in answer) || answer.message === null) throw new Error(answer.outcome);
  await bench.practice.waitFor(() => ada.channelAsText(message.thread).includes("How far should your yes reach"));
  await ada.select(answer.message, `grant:cycle_1:${message.ws_id}`, ["prefix|hour|git status"]);
  const call = await until(() => bench.server.calls.find(({ name }) => name.endsWith("/approve")));
  expect(call.body).toEqual({
    approved: true,
    always: true,
    cycle_id: "cycle_1",
    scope: { match: "prefix", prefix: "git status", for: "workstream", expires_in_s: 3600 },
  });
});

// REQ-GATEWAY-003
test("after a restart the same card is there, works, and nothing is shown twice (APPR-07, DEVT-04, APPR-20)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "List.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, assistant("I want to list.", "1.1"));
  bench.server.emit(message.ws_id, ASKED);
  const card = await bench.sees(message.thread, "may I do this");
  await bench.restart();
  await bench.practice.as("Ada").press(card, "Approve");
  await until(() => bench.server.calls.find(({ name }) => name.endsWith("/approve")));
  bench.server.emit(message.ws_id, APPROVED);
  const decided = await bench.sees(message.thread, "✅ Approved by **Ada**");
  expect(decided.id).toBe(card.id);
  expect(count(bench, message.thread, "I want to list.")).toBe(1);
});

test("a card that somebody deletes is asked again", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "List.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  const card = await bench.sees(message.thread, "may I do this");
  bench.practice.admin.deleteMessage(card.id);
  const again = await bench.practice.waitFor(() =>
    bench.practice
      .messages(message.thread)
      .find((each) => each.id !== card.id && bench.practice.messageAsText(each).includes("may I do this")),
  );
  expect(again.id).not.toBe(card.id);
});

test("an outage of the stream loses and doubles nothing (DEVT-26, REQ-GATEWAY-004)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Go.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, assistant("First.", "1.1"));
  await bench.sees(message.thread, "First.");
  bench.server.dropStreams();
  bench.server.emit(message.ws_id, assistant("Second.", "1.2"));
  bench.server.emit(message.ws_id, { type: "turn_ended", outcome: "done" });
  await bench.sees(message.thread, "Second.");
  expect(count(bench, message.thread, "First.")).toBe(1);
  await until(() => bench.server.routes.get(message.thread)?.cursor_seq === 4);
});

test("a failure is one message with a Retry button (REQ-DISCORD-017)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Go.");
  bench.turn(message, [{ type: "error", message: "The model is overloaded.", code: "model_overloaded" }]);
  const shown = await bench.sees(message.thread, "The model is overloaded.");
  await bench.practice.as("Ada").press(shown, "Retry");
  await until(() => bench.server.calls.find(({ name }) => name.endsWith("/retry")));
  expect(count(bench, message.thread, "overloaded")).toBe(1);
});

test("a slow turn has a Stop button", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Go.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, { type: "tool_started", call_id: "c", name: "bash" });
  const card = await bench.sees(message.thread, "Stop");
  await bench.practice.as("Ada").press(card, "Stop");
  const call = await until(() => bench.server.calls.find(({ name }) => name.endsWith("/cancel")));
  expect(call.actor).toBe(bench.practice.userId("Ada"));
});

test("a plan is accepted, changed or rejected (REQ-DISCORD-016)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Plan.");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, {
    type: "plan_review",
    review_id: "r1",
    call_id: "c",
    content: "1. Think",
    round: 1,
  });
  const ada = bench.practice.as("Ada");
  const form = await ada.press(await bench.sees(message.thread, "1. Think"), "Request changes…");
  if (form.outcome !== "modal") throw new Error(form.outcome);
  await ada.submit(form, { changes: "shorter" });
  const call = await until(() => bench.server.calls.find(({ name }) => name.endsWith("/plan")));
  expect(call.body).toEqual({ feedback: "shorter", review_id: "r1" });
  bench.server.emit(message.ws_id, {
    type: "plan_resolved",
    review_id: "r1",
    feedback: "shorter",
    decided_by: { user_id: "u", name: "Ada" },
  });
  await bench.sees(message.thread, "Changes asked for by **Ada**");
});

// REQ-DISCORD-018
test("a turn of more than a minute calls the person who asked, and nobody else is ever alerted", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "Go.");
  const began = new Date(Date.now() - 180_000).toISOString();
  bench.server.emit(message.ws_id, userTurn(message), { at: began });
  bench.server.emit(message.ws_id, assistant("@everyone look <@1>"));
  bench.server.emit(message.ws_id, { type: "turn_ended", outcome: "done" });
  await bench.sees(message.thread, "Done after 3 min");
  const pings = (): string[][] =>
    bench.practice.requests
      .filter((request) => request.method === "POST" && request.route?.endsWith("/messages") === true)
      .map((request) => (request.body as { allowed_mentions: { users: string[] } }).allowed_mentions.users)
      .filter((users) => users.length > 0);
  await until(() => pings().length > 0);
  expect(pings()).toEqual([[bench.practice.userId("Ada")]]);
});
