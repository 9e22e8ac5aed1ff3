import { expect, test } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { silentLog } from "../src/lib/log.ts";
import { readSettings } from "./config.ts";
import { runGateway } from "./main.ts";
import { ASKED, EXPIRED } from "./testing/approvals.ts";
import { assistant, startBench, until, userTurn } from "./testing/bench.ts";

const MESSAGE_CONTENT_INTENT = 1 << 15;

test("the same event twice is one conversation (DEVT-05, REQ-GATEWAY-006)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "once");
  bench.practice.faults.redeliver(message.thread);
  bench.practice.as("Ada").say(message.thread, "next");
  await bench.sent(2);
  expect(bench.server.sent.map(({ message: text }) => text)).toEqual(["once", "next"]);
  expect(bench.practice.threads("general")).toHaveLength(1);
});

test("after a session that could not be resumed, what was missed is read, and each answer is shown once (DEVT-22, DEVT-24)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "first");
  await until(() => bench.server.routes.get(message.thread)?.last_inbound_id === message.thread);
  bench.practice.faults.gatewayDown(true);
  bench.practice.faults.forgetSessions();
  bench.practice.faults.dropConnections();
  bench.practice.as("Ada").say(message.thread, "second");
  bench.practice.faults.gatewayDown(false);
  await until(() => bench.server.sent.length === 2, 20_000);
  const second = await bench.sent(2);
  expect(second.message).toBe("second");
  bench.turn(second, [assistant("Shown once.")]);
  await bench.sees(message.thread, "Shown once.");
  await until(() => bench.server.routes.get(message.thread)?.cursor_seq === 3, 20_000);
  const shown = bench.practice.messages(message.thread).filter(({ content }) => content.includes("Shown once."));
  expect(shown).toHaveLength(1);
}, 40_000);

test("while the server is too slow to keep a route nothing is given up: one thread, the message once (DEVT-17)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  let refused = 0;
  bench.server.refuse = (request) => {
    if (request.method !== "POST" || !request.url.endsWith("/routes") || refused === 2) return null;
    refused += 1;
    return { status: 503, body: { error: "The server is starting." } };
  };
  const message = await bench.begin("Ada", "be patient");
  expect(refused).toBe(2);
  expect(message.message).toBe("be patient");
  bench.practice.as("Ada").say(message.thread, "still there?");
  expect(await bench.sent(2)).toMatchObject({ ws_id: message.ws_id, message: "still there?" });
  expect(bench.practice.threads("general")).toHaveLength(1);
}, 30_000);

// REQ-GATEWAY-005
test("an outage of Discord's requests delays the answer and neither loses nor doubles it", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  const end = bench.practice.faults.onRequest({ method: "POST", path: /\/messages$/ }, { kind: "status", status: 503 });
  bench.turn(message, [assistant("The answer.")]);
  await until(() => bench.practice.requests.filter((request) => request.status === 503).length >= 2);
  end();
  await bench.practice.waitFor(() => bench.practice.channelAsText(message.thread).includes("The answer."), {
    timeout_ms: 20_000,
  });
  await until(() => bench.server.routes.get(message.thread)?.cursor_seq === 3, 20_000);
  expect(bench.practice.messages(message.thread).filter((each) => each.content.includes("The answer."))).toHaveLength(
    1,
  );
}, 40_000);

test("a streamed message that somebody deletes is posted again, whole (DREN-10)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, { type: "thinking_start", model_call_id: "1.1", model_alias: "test" });
  bench.server.emit(message.ws_id, { type: "content", text: "Half" });
  const half = await bench.sees(message.thread, "Half");
  bench.practice.admin.deleteMessage(half.id);
  bench.server.emit(message.ws_id, assistant("Half and half."));
  const whole = await bench.sees(message.thread, "Half and half.");
  expect(whole.id).not.toBe(half.id);
});

test("a card in an archived thread is still rewritten (DREN-14)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  await bench.sees(message.thread, "may I do this");
  bench.practice.admin.archive(message.thread);
  bench.server.emit(message.ws_id, EXPIRED);
  const card = await bench.sees(message.thread, "Nobody answered in time");
  expect(bench.practice.messageAsText(card)).not.toContain("[Approve]");
});

// REQ-DISCORD-020
test("a slow server does not make an interaction fail, an expired token neither (DEVT-01, DEVT-02, DEVT-03)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  const { practice } = bench;
  practice.faults.onRequest(
    { method: "POST", path: "/callback" },
    { kind: "status", status: 404, body: { code: 10062, message: "Unknown interaction" } },
  );
  await practice
    .as("Ada")
    .slash(message.thread, "stop")
    .catch(() => {});
  await until(() => bench.server.calls.find(({ name }) => name.endsWith("/cancel")));
  practice.faults.clear();
  practice.as("Ada").say(message.thread, "still alive?");
  expect((await bench.sent(2)).message).toBe("still alive?");
}, 20_000);

test("without the message content intent mentions, replies, commands and DMs work, and plain words are not heard (REQ-DISCORD-021)", async () => {
  await using bench = await startBench({ disallowed_intents: MESSAGE_CONTENT_INTENT });
  bench.link("Ada");
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  const { thread, ...message } = await bench.begin("Ada", "go");
  bench.turn({ ...message }, [assistant("Went.")]);
  const answer = await bench.sees(thread, "Went.");
  ada.say(thread, "just words");
  ada.say(thread, "more, please", { reply_to: answer.id });
  expect((await bench.sent(2)).message).toContain("more, please");
  ada.say(thread, `<@${practice.bot_id}> and more`);
  expect((await bench.sent(3)).message).toBe("and more");
  const dm = ada.openDm();
  ada.say(dm.id, "in private");
  expect((await bench.sent(4)).message).toBe("in private");
  await until(() => ada.commands("general").length > 0);
  await ada.slash(thread, "doctor");
  await practice.waitFor(() => ada.channelAsText(thread).includes("Switch on Message Content Intent"));
  expect(server.sent.map(({ message: words }) => words).join()).not.toContain("just words");
}, 20_000);

// REQ-GATEWAY-010
test("no token and a wrong token are one clear sentence each, without the token (DEVT-25)", async () => {
  const none = readSettings({});
  expect(none.ok ? "" : none.error).toContain("TURNSTONE_DISCORD_TOKEN");
  await using bench = await startBench();
  const wrong = { ...bench.settings, discord: { ...bench.settings.discord, token: "wrong.token.here" } };
  const started = await runGateway(wrong, { log: silentLog });
  expect(started.ok ? "" : started.error).toContain("refuses the token");
  expect(started.ok ? "" : started.error).not.toContain("wrong.token.here");
});

test("commands are registered once, whatever reconnects (DEVT-23)", async () => {
  await using bench = await startBench();
  const puts = (): number =>
    bench.practice.requests.filter(
      (request) => request.method === "PUT" && request.route?.endsWith("/commands") === true,
    ).length;
  await until(() => puts() === 1);
  await bench.restart();
  await until(
    () =>
      bench.practice.requests.filter(
        (request) => request.method === "GET" && request.route?.endsWith("/commands") === true,
      ).length === 2,
  );
  expect(puts()).toBe(1);
  expect(
    bench.practice
      .as("Ada")
      .commands("general")
      .map(({ name }) => name),
  ).toContain("ask");
});

test("/ask opens a thread with the question, and commands in wrong places say so (DEVT-16)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const ada = bench.practice.as("Ada");
  await until(() => ada.commands("general").length > 0);
  await ada.slash("general", "ask", { message: "What is new?" });
  expect((await bench.sent(1)).message).toBe("What is new?");
  await bench.sees("general", "**Ada** asks: What is new?");
  await ada.slash("random", "stop");
  await bench.practice.waitFor(() => ada.channelAsText("random").includes("There is no conversation with me here"));
});

test("a card that is too old to be edited again is posted anew and the old one taken away, and nothing behind it waits", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  const old = await bench.sees(message.thread, "may I do this");
  bench.practice.faults.onRequest(
    { method: "PATCH", path: old.id },
    { kind: "status", status: 400, body: { code: 30046, message: "Maximum number of edits reached" } },
  );
  bench.server.emit(message.ws_id, EXPIRED);
  bench.server.emit(message.ws_id, assistant("And so on."));
  await bench.sees(message.thread, "And so on.");
  const cards = bench.practice
    .messages(message.thread)
    .map((each) => bench.practice.messageAsText(each))
    .filter((text) => text.includes("bash: ls"));
  expect(cards.filter((text) => text.includes("Nobody answered in time"))).toHaveLength(1);
  expect(cards.filter((text) => text.includes("[Approve]"))).toHaveLength(0);
});

test("where the platform only asks for patience with an old message, the card is rewritten after the wait", async () => {
  const late = "PATCH /channels/:channel_id/messages/:message_id (older than an hour)";
  await using bench = await startBench({
    practice: { rate_limits: { routes: { [late]: { limit: 1, window_ms: 2000 } } } },
  });
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, ASKED);
  const old = await bench.sees(message.thread, "may I do this");
  bench.practice.admin.ageMessage(old.id, 2 * 60 * 60_000);
  bench.server.emit(message.ws_id, { ...EXPIRED, reason: "cancelled" });
  await bench.sees(message.thread, "Stopped before it was decided");
  bench.server.emit(message.ws_id, EXPIRED);
  expect((await bench.sees(message.thread, "Nobody answered in time")).id).toBe(old.id);
  expect(bench.practice.requests.some(({ status }) => status === 429)).toBe(true);
});

test("a turn that lasts for hours gets a new live card before its old one can hardly be edited any more", async () => {
  let shift_ms = 0;
  await using bench = await startBench({ clock: { ...systemClock, now: () => systemClock.now() + shift_ms } });
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, { type: "tool_started", call_id: "call_1", name: "first" });
  const old = await bench.sees(message.thread, "first");
  shift_ms = 51 * 60_000;
  bench.server.emit(message.ws_id, { type: "tool_started", call_id: "call_2", name: "second" });
  const card = await bench.sees(message.thread, "second");
  expect(card.id).not.toBe(old.id);
  const cards = bench.practice.messages(message.thread).map((each) => bench.practice.messageAsText(each));
  expect(cards.filter((text) => text.includes("[Stop]"))).toHaveLength(1);
});
