import { expect, test } from "vitest";
import { systemClock, type Clock } from "../src/lib/clock.ts";
import { ASKED } from "./testing/approvals.ts";
import { assistant, startBench, until, userTurn } from "./testing/bench.ts";

test("a forwarded message and a poll reach the agent in words (DEVT-12)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { thread } = await bench.begin("Ada", "go");
  const { practice } = bench;
  const elsewhere = practice.as("Ben").say("random", "the server room is on fire");
  practice.as("Ada").say(thread, "", { forward: elsewhere });
  expect((await bench.sent(2)).message).toContain("[Forwarded message]\nthe server room is on fire");
  practice.as("Ada").say(thread, "", { poll: "Shall we leave?" });
  expect((await bench.sent(3)).message).toContain("[Poll: Shall we leave?: yes / no]");
});

test("a forum's post becomes the conversation; in a voice channel the bot says why not (DEVT-16)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const { practice } = bench;
  const ada = practice.as("Ada");
  const post = ada.startThread("ideas", {
    name: "A new logo",
    first_message: `<@${practice.bot_id}> what do you think?`,
  });
  const sent = await bench.sent(1);
  expect(sent.message).toBe("what do you think?");
  bench.turn(sent, [assistant("It is fine.")]);
  await bench.sees(post.id, "It is fine.");
  ada.say("lounge", `<@${practice.bot_id}> hello?`);
  await bench.sees("lounge", "I cannot open a thread in a voice channel");
  ada.say("lounge", `<@${practice.bot_id}> hello??`);
  expect(bench.server.sent).toHaveLength(1);
});

test("in a locked thread an open question goes to the person by DM (DREN-14)", async () => {
  await using bench = await startBench();
  bench.link("Ada");
  const message = await bench.begin("Ada", "go");
  bench.server.emit(message.ws_id, userTurn(message));
  bench.practice.admin.setPermissions("general", "turnstone", { deny: ["manage_threads"] });
  bench.practice.admin.archive(message.thread, { locked: true });
  bench.server.emit(message.ws_id, ASKED);
  await bench.practice.waitFor(() => bench.practice.dmAsText("Ada").includes("I ask you here"));
  const refused = bench.practice.requests.filter(({ status }) => status === 400 || status === 403);
  expect(refused.length).toBeLessThan(10);
});

test("an answer that takes longer than a command's token lives comes by DM (DEVT-03)", async () => {
  let ahead_ms = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead_ms };
  await using bench = await startBench({ clock });
  bench.link("Ada");
  const { thread } = await bench.begin("Ada", "go");
  const { practice, server } = bench;
  await until(() => practice.as("Ada").commands("general").length > 0);
  server.refuse = (request) => {
    if (request.url.includes("/memories")) ahead_ms = 20 * 60_000;
    return null;
  };
  await practice.as("Ada").slash(thread, "memory list");
  await practice.waitFor(() => practice.dmAsText("Ada").includes("I remember nothing about you yet."));
  expect(practice.as("Ada").channelAsText(thread)).not.toContain("I remember nothing about you yet.");
});
