import { expect, test } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { GENEROUS_RATE_LIMITS } from "./practice/index.ts";
import { assistant, startBench, until, userTurn } from "./testing/bench.ts";

test("two quick messages are one conversation, in order (DEVT-06)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const ada = bench.practice.as("Ada");
  const opener = ada.say("general", `<@${bench.practice.bot_id}> first`);
  await bench.practice.waitFor(() => bench.practice.threads("general").length === 1);
  ada.say(opener.id, "second");
  ada.say(opener.id, "third");
  await bench.sent(3);
  expect(bench.server.sent.map(({ message }) => message)).toEqual(["first", "second", "third"]);
  expect(new Set(bench.server.sent.map(({ ws_id }) => ws_id)).size).toBe(1);
});

test("only a typed mention of the bot begins something (DEVT-10, DEVT-11, REQ-DISCORD-007)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice } = bench;
  const message = await bench.begin("Ada", "hello");
  const ours = practice.messages("general")[0];
  practice.as("Ada").say("general", "@everyone hello");
  practice.as("Ada").say("general", "a reply", { reply_to: ours?.id ?? "", ping: true });
  practice.admin.webhookSays("general", "Hook", `<@${practice.bot_id}> from a hook`);
  practice.as("Ada").say(message.thread, "and on");
  expect((await bench.sent(2)).message).toBe("and on");
  expect(practice.threads("general")).toHaveLength(1);
});

// REQ-DISCORD-030
test("an unlinked person gets one kind answer with a button that links (DEVT-20, DEVT-19)", async () => {
  await using bench = await startBench();
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  ada.say("general", `<@${practice.bot_id}> hello`);
  const answer = await bench.sees("general", "Link account");
  ada.say("general", `<@${practice.bot_id}> hello?`);
  const form = await ada.press(answer, "Link account");
  if (form.outcome !== "modal") throw new Error(form.outcome);
  await ada.submit(form, { token: "ts_wrong" });
  await practice.waitFor(() => ada.channelAsText("general").includes("This token is not valid"));
  const again = await ada.press(answer, "Link account");
  if (again.outcome !== "modal") throw new Error(again.outcome);
  await ada.submit(again, { token: "ts_good" });
  await practice.waitFor(() => ada.channelAsText("general").includes("You are linked as **Ada**"));
  expect(ada.channelAsText("general")).not.toContain("ts_good");
  expect(
    practice.messages("general").filter((message) => practice.messageAsText(message).includes("Link account")),
  ).toHaveLength(1);
  ada.say("general", `<@${practice.bot_id}> now`);
  expect((await bench.sent(1)).message).toBe("now");
  expect(server.sent).toHaveLength(1);
});

test("somebody else in a thread is not heard as its owner (DEVT-18, REQ-DISCORD-008)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  bench.link("Ben");
  const message = await bench.begin("Ada", "mine");
  bench.practice.as("Ben").say(message.thread, "let me in");
  await bench.sees(message.thread, "belongs to somebody else");
  expect(bench.server.sent).toHaveLength(1);
});

test("a reply brings its quotation, a sticker its name, a file its bytes (DEVT-12, REQ-DISCORD-009)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice } = bench;
  const ada = practice.as("Ada");
  const told = practice.as("Ben").say("general", "The sky is blue.");
  const asked = ada.say("general", `<@${practice.bot_id}> why?`, {
    reply_to: told.id,
    attachments: [{ filename: "sky.txt", content: "blue" }],
  });
  expect((await bench.sent(1)).message).toBe("> Ben wrote:\n> The sky is blue.\n\nwhy?");
  expect(bench.server.calls.find(({ name }) => name === "upload")?.body).toContain("blue");
  ada.say(asked.id, "", { stickers: ["Wave"] });
  expect((await bench.sent(2)).message).toBe("[Sticker: Wave]");
});

test("what was written while nobody listened is heard in order, once (catch-up) (REQ-GATEWAY-007)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice } = bench;
  const ada = practice.as("Ada");
  const message = await bench.begin("Ada", "first");
  await until(() => bench.server.routes.get(message.thread)?.last_inbound_id === message.thread);
  await bench.gateway.stop();
  ada.say(message.thread, "second");
  ada.say(message.thread, "third");
  ada.say("general", `<@${practice.bot_id}> another`);
  await bench.restart();
  await bench.sent(4);
  const texts = bench.server.sent.map(({ message: text }) => text);
  expect(texts.filter((text) => text !== "another")).toEqual(["first", "second", "third"]);
  expect(texts).toContain("another");
  await bench.restart();
  ada.say(message.thread, "fourth");
  await until(() => bench.server.sent.some(({ message: text }) => text === "fourth"));
  expect(bench.server.sent).toHaveLength(5);
});

test("what was written while nobody listened is heard, however much was written in between", async () => {
  await using bench = await startBench({ practice: { rate_limits: GENEROUS_RATE_LIMITS } });
  bench.link("Ada");
  const { practice } = bench;
  const ada = practice.as("Ada");
  const message = await bench.begin("Ada", "first");
  await until(() => bench.server.routes.get(message.thread)?.last_inbound_id === message.thread);
  await bench.gateway.stop();
  for (let count = 0; count < 250; count += 1) practice.as("Ben").say("general", `chatter ${count}`);
  ada.say("general", `<@${practice.bot_id}> at last`);
  for (let count = 0; count < 220; count += 1) ada.say(message.thread, `more ${count}`);
  await bench.restart();
  await until(() => bench.server.sent.length === 222, 20_000);
  const texts = bench.server.sent.map(({ message: text }) => text);
  expect(texts).toContain("at last");
  expect(texts.filter((text) => text.startsWith("more"))).toEqual(
    Array.from({ length: 220 }, (_value, count) => `more ${count}`),
  );
}, 40_000);

test("a mention of hours ago is heard, though a later one was answered just now", async () => {
  let ahead_ms = -2 * 3600_000;
  const now = (): number => Date.now() + ahead_ms;
  await using bench = await startBench({ practice: { now }, clock: { ...systemClock, now } });
  bench.link("Ada");
  const { practice } = bench;
  await bench.gateway.stop();
  practice.as("Ada").say("general", `<@${practice.bot_id}> two hours ago`);
  ahead_ms = 0;
  const later = practice.as("Ada").say("general", `<@${practice.bot_id}> just now`);
  // As a gateway leaves it that dies in the middle of what it has to catch up with.
  const route = {
    ws_id: "w".repeat(32),
    channel_id: later.id,
    kind: "thread",
    parent_channel_id: later.channel_id,
  } as const;
  const at = { created: new Date().toISOString(), last_inbound_id: later.id, cursor_seq: 0 };
  bench.server.routes.set(later.id, { ...route, ...at, channel_type: "discord", guild_id: null });
  await bench.restart();
  expect((await bench.sent(1)).message).toBe("two hours ago");
});

test("a start asks the server nothing about conversations that were begun before it, however many a day has", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  for (const words of ["one", "two", "three"]) {
    const { thread } = await bench.begin("Ada", words);
    await until(() => bench.server.routes.get(thread)?.last_inbound_id === thread);
  }
  await bench.gateway.stop();
  bench.practice.as("Ada").say("general", `<@${bench.practice.bot_id}> four`);
  const asked: string[] = [];
  bench.server.refuse = ({ method, url }) => {
    if (method === "GET" && url.includes("/routes/")) asked.push(url);
    return null;
  };
  await bench.restart();
  expect((await bench.sent(4)).message).toBe("four");
  expect(asked).toEqual([]);
});

// REQ-NOTIFY-010
test("a direct message is a conversation; a reply to a notification goes where that came from, and its answer comes back (NTFY-24)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  const thread = await bench.begin("Ada", "work");
  bench.turn(thread, [assistant("Working.")]);
  const dm = ada.openDm();
  ada.say(dm.id, "hello you");
  const direct = await bench.sent(2);
  expect(direct.ws_id).not.toBe(thread.ws_id);
  bench.turn(direct, [assistant("Hello.")]);
  await bench.sees(dm.id, "Hello.");
  const posted = practice.messages(dm.id).find((message) => practice.messageAsText(message).includes("Hello."));
  server.posted.push({
    channel_type: "discord",
    channel_id: dm.id,
    message_id: posted?.id ?? "",
    ws_id: thread.ws_id,
    shows: "notification:n",
    part: 0,
    created: "",
  });
  server.posted = server.posted.filter((row) => row.message_id !== posted?.id || row.ws_id === thread.ws_id);
  ada.say(dm.id, "go on", { reply_to: posted?.id ?? "" });
  const reply = await bench.sent(3);
  expect(reply.ws_id).toBe(thread.ws_id);
  bench.turn(reply, [assistant("I go on.", "4.1")]);
  await bench.sees(dm.id, "I go on.");
  bench.turn({ ...reply, client_send_id: "9" }, [assistant("Only in the thread.", "7.1")]);
  await bench.sees(thread.thread, "Only in the thread.");
  expect(practice.dmAsText("Ada")).not.toContain("Only in the thread.");
});

test("what follows a notification in a DM goes where that came from, after a restart too, and a stranger learns why not (NTFY-23)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  const thread = await bench.begin("Ada", "work");
  bench.turn(thread, [assistant("Working.")]);
  const dm = ada.openDm();
  const notification = { channel_type: "discord", channel_id: dm.id, ws_id: thread.ws_id, part: 0, created: "" };
  server.posted.push({ ...notification, message_id: "1", shows: "notification:n" });
  await bench.restart();
  ada.say(dm.id, "then do the rest");
  const answered = await bench.sent(2);
  expect(answered).toMatchObject({ ws_id: thread.ws_id, message: "then do the rest" });
  bench.turn(answered, [assistant("Done with it.", "2.1")]);
  await bench.sees(dm.id, "Done with it.");
  server.links.delete(practice.userId("Ada"));
  server.posted.push({ ...notification, message_id: "2", shows: "notification:n2" });
  ada.say(dm.id, "and who am I now");
  await bench.sees(dm.id, /link/i);
  expect(server.sent).toHaveLength(2);
});

test("an outage while it is asked what a DM follows sends nothing to the wrong conversation", async () => {
  // More often than a request is repeated by itself.
  const OUTAGE = 8;
  await using bench = await startBench();
  bench.link("Ada");
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  const thread = await bench.begin("Ada", "work");
  bench.turn(thread, [assistant("Working.")]);
  const dm = ada.openDm();
  const notification = { channel_type: "discord", channel_id: dm.id, ws_id: thread.ws_id, part: 0, created: "" };
  server.posted.push({ ...notification, message_id: "1", shows: "notification:n" });
  let refused = 0;
  server.refuse = (request) => {
    if (!request.url.includes("posted?channel_id=") || refused === OUTAGE) return null;
    refused += 1;
    return { status: 503, body: { error: "The server is starting." } };
  };
  ada.say(dm.id, "go on then");
  expect(await bench.sent(2)).toMatchObject({ ws_id: thread.ws_id, message: "go on then" });
  expect(refused).toBe(OUTAGE);
});

test("a notification's conversation that was closed meanwhile is not opened by an answer: a new one is offered", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  const thread = await bench.begin("Ada", "work");
  bench.turn(thread, [assistant("Working.")]);
  const dm = ada.openDm();
  ada.say(dm.id, "hello you");
  const direct = await bench.sent(2);
  bench.turn(direct, [assistant("Hello.")]);
  const there = await bench.sees(dm.id, "Hello.");
  await until(() => server.posted.some(({ message_id }) => message_id === there.id));
  const notification = { channel_type: "discord", channel_id: dm.id, ws_id: thread.ws_id, part: 0, created: "" };
  server.posted = server.posted.filter(({ message_id }) => message_id !== there.id);
  server.posted.push({ ...notification, message_id: there.id, shows: "notification:n" });
  server.refuse = (request) =>
    request.method === "POST" && request.url.includes(`${thread.ws_id}/send`)
      ? { status: 409, body: { error: "This workstream is closed." } }
      : null;
  ada.say(dm.id, "thanks, and now", { reply_to: there.id });
  await bench.sees(dm.id, "closed meanwhile. Write to me without replying to begin a new one");
  ada.say(dm.id, "something new");
  await bench.sees(dm.id, "closed meanwhile. I take this as a new one");
  expect(await bench.sent(3)).toMatchObject({ ws_id: direct.ws_id, message: "something new" });
});

// REQ-DISCORD-010
test("an edited last message runs again with the new words; a deleted one that waits is taken back", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice, server } = bench;
  const ada = practice.as("Ada");
  const message = await bench.begin("Ada", "first");
  await until(() => server.routes.get(message.thread)?.last_inbound_id === message.thread);
  server.refuse = (request) => (request.method === "DELETE" ? { status: 409, body: { error: "Joined." } } : null);
  ada.edit(message.thread, `<@${practice.bot_id}> first, better`);
  expect((await bench.sent(2)).message).toBe("first, better");
  expect(server.calls.some(({ name }) => name.endsWith("/rewind"))).toBe(true);
  server.refuse = () => null;
  const waiting = ada.say(message.thread, "not this");
  await bench.sent(3);
  ada.remove(waiting.id);
  await until(() => server.calls.find(({ name }) => name === `DELETE /v1/api/workstreams/WS/send/m${waiting.id}`));
});

test("where threads are forbidden the bot says so, and goes on elsewhere (DREN-15, REQ-DISCORD-011)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice } = bench;
  practice.admin.setPermissions("general", "turnstone", { deny: ["create_public_threads"] });
  practice.as("Ada").say("general", `<@${practice.bot_id}> hello`);
  await bench.sees("general", "I may not open a thread here");
  const dm = practice.as("Ada").openDm();
  practice.as("Ada").say(dm.id, "still there?");
  expect((await bench.sent(1)).message).toBe("still there?");
});

test("a deleted thread closes its workstream and tells its person (DREN-13)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "hello");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.server.emit(message.ws_id, assistant("One."));
  await bench.sees(message.thread, "One.");
  bench.practice.admin.deleteChannel(message.thread);
  await bench.practice.waitFor(() => bench.practice.dmAsText("Ada").includes("thread was deleted"));
  expect(bench.server.calls.some(({ name }) => name.endsWith("/close"))).toBe(true);
  expect(bench.server.routes.has(message.thread)).toBe(false);
});

test("other guilds and channels than the chosen ones are not served (REQ-DISCORD-012)", async () => {
  await using bench = await startBench({ discord: { channels: ["1"] } });
  bench.link("Ada");
  const { practice } = bench;
  practice.as("Ada").say("general", `<@${practice.bot_id}> hello`);
  const dm = practice.as("Ada").openDm();
  practice.as("Ada").say(dm.id, "here I may");
  expect((await bench.sent(1)).message).toBe("here I may");
  expect(practice.threads()).toHaveLength(0);
});
