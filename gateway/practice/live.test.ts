import { ChannelType, Events, GatewayIntentBits, ThreadAutoArchiveDuration } from "discord.js";
import type { Client, TextChannel } from "discord.js";
import { expect, test } from "vitest";
import { GENEROUS_RATE_LIMITS, startPractice } from "./index.ts";
import type { PracticeDiscord } from "./index.ts";
import { INTENTS, createClient, startBot } from "../../test/support/practice_bot.ts";

function heard(client: Client): string[] {
  const contents: string[] = [];
  client.on(Events.MessageCreate, (message) => contents.push(message.content));
  return contents;
}

async function resumed(practice: PracticeDiscord, count: number): Promise<void> {
  await practice.waitFor(() => practice.gateway.resumed === count && practice.gateway.connectedCount() === 1);
}

test("what is said while the connection is cut is replayed on resume (DEVT-05)", async () => {
  await using bench = await startBot();
  const { practice, client } = bench;
  const contents = heard(client);
  practice.faults.gatewayDown(true);
  practice.faults.dropConnections();
  await practice.waitFor(() => practice.gateway.connectedCount() === 0);
  practice.as("Ada").say("general", "are you still there?");
  practice.faults.gatewayDown(false);
  await resumed(practice, 1);
  await practice.waitFor(() => contents.length > 0);
  expect(contents).toEqual(["are you still there?"]);
  expect(practice.gateway.identified).toBe(1);
});

test("opcode 7, opcode 9 true and a zombie connection end in a resume", async () => {
  await using bench = await startBot({ heartbeat_interval_ms: 300 });
  const { practice, client } = bench;
  const contents = heard(client);
  practice.faults.askToReconnect();
  await resumed(practice, 1);
  practice.faults.invalidateSession(true);
  await resumed(practice, 2);
  practice.faults.zombie(true);
  await practice.waitFor(() => practice.gateway.resumed === 3);
  practice.faults.zombie(false);
  practice.as("Ada").say("general", "back");
  await practice.waitFor(() => contents.includes("back"));
  expect(practice.gateway.identified).toBe(1);
});

test("a session that is forgotten begins anew, without a replay (DEVT-22)", async () => {
  await using bench = await startBot();
  const { practice, client } = bench;
  const contents = heard(client);
  practice.faults.gatewayDown(true);
  practice.faults.dropConnections();
  await practice.waitFor(() => practice.gateway.connectedCount() === 0);
  practice.as("Ada").say("general", "missed");
  practice.faults.forgetSessions();
  practice.faults.gatewayDown(false);
  await practice.waitFor(() => practice.gateway.identified === 2);
  practice.as("Ada").say("general", "heard");
  await practice.waitFor(() => contents.includes("heard"));
  expect(contents).toEqual(["heard"]);
});

test("opcode 9 false makes the bot identify again", async () => {
  await using bench = await startBot();
  const again = new Promise((resolve) => bench.client.once(Events.ShardReady, resolve));
  bench.practice.faults.invalidateSession(false);
  await again;
  expect(bench.practice.gateway.identified).toBe(2);
  expect(bench.practice.gateway.resumed).toBe(0);
});

test("without the message content intent only mentions, own and direct messages have text", async () => {
  const intents = INTENTS.filter((intent) => intent !== GatewayIntentBits.MessageContent);
  await using bench = await startBot({}, { intents });
  const { practice, client } = bench;
  const contents = heard(client);
  const ada = practice.as("Ada");
  ada.say("general", "private matter");
  ada.say("general", `<@${practice.bot_id}> public matter`);
  ada.say(ada.openDm(), "direct matter");
  await practice.waitFor(() => contents.length === 3);
  expect(contents).toEqual(["", `<@${practice.bot_id}> public matter`, "direct matter"]);
});

test("an intent that is switched off refuses the login (DEVT-25)", async () => {
  await using bench = await startBot();
  bench.practice.faults.disallowIntents(1 << 15);
  const second = createClient(bench.practice);
  await expect(second.login(bench.practice.bot_token)).rejects.toThrow(/disallowed intents/i);
  await second.destroy();
});

test("a wrong token is refused (DEVT-25)", async () => {
  const practice = await startPractice();
  const client = createClient(practice);
  await expect(client.login("wrong")).rejects.toThrow(/invalid token/i);
  expect(practice.invalidRequestCount()).toBe(1);
  await practice.close();
});

test("a message can be delivered twice (DEVT-05)", async () => {
  await using bench = await startBot();
  const seen: string[] = [];
  bench.client.on(Events.Raw, (packet: { t: string; d: { id: string } }) => {
    if (packet.t === "MESSAGE_CREATE") seen.push(packet.d.id);
  });
  const message = bench.practice.as("Ada").say("general", "once");
  bench.practice.faults.redeliver(message);
  await bench.practice.waitFor(() => seen.length === 2);
  expect(seen).toEqual([message.id, message.id]);
});

test("the library waits where it is limited, and nothing is lost", async () => {
  const limit = { limit: 3, window_ms: 400 };
  await using bench = await startBot({
    rate_limits: { ...GENEROUS_RATE_LIMITS, routes: { "POST /channels/:channel_id/messages": limit } },
  });
  const { practice, client } = bench;
  const channel = client.channels.cache.get(practice.channelId("general")) as TextChannel;
  await Promise.all(Array.from({ length: 8 }, (_, index) => channel.send(`m${index}`)));
  expect(practice.messages("general").map((message) => message.content)).toEqual(
    Array.from({ length: 8 }, (_, index) => `m${index}`),
  );
  const statuses = practice.requests.filter((one) => one.method === "POST").map((one) => one.status);
  expect(statuses).toEqual(Array.from({ length: 8 }, () => 200));
});

test("a 429, a 502 and a cut socket are tried again", async () => {
  await using bench = await startBot();
  const { practice, client } = bench;
  const channel = client.channels.cache.get(practice.channelId("general")) as TextChannel;
  const match = { method: "POST", path: "/messages", times: 1 };
  practice.faults.onRequest(match, { kind: "rate_limit", retry_after_ms: 20, scope: "shared" });
  await channel.send("after a 429");
  practice.faults.onRequest(match, { kind: "status", status: 502 });
  await channel.send("after a 502");
  practice.faults.onRequest(match, { kind: "reset" });
  await channel.send("after a cut").catch(() => channel.send("after a cut"));
  practice.faults.onRequest(match, { kind: "delay", delay_ms: 30 });
  await channel.send("after a delay");
  expect(practice.messages("general").map((message) => message.content)).toEqual([
    "after a 429",
    "after a 502",
    "after a cut",
    "after a delay",
  ]);
  expect(practice.invalidRequestCount()).toBe(0);
});

test("the headers and the 429 body are those of Discord", async () => {
  const practice = await startPractice({ rate_limits: { default: { limit: 1, window_ms: 60_000 } } });
  const ask = (): Promise<Response> =>
    fetch(`${practice.api_url}/v10/users/@me`, { headers: { authorization: `Bot ${practice.bot_token}` } });
  const first = await ask();
  expect(first.headers.get("x-ratelimit-remaining")).toBe("0");
  expect(first.headers.get("x-ratelimit-bucket")).toMatch(/^[0-9a-f]{32}$/);
  const second = await ask();
  expect(second.status).toBe(429);
  expect(second.headers.get("x-ratelimit-scope")).toBe("user");
  expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await second.json()).toMatchObject({ message: "You are being rate limited.", global: false });
  await practice.close();
});

test("unknown routes are named, bad JSON and foreign hosts refused", async () => {
  const practice = await startPractice();
  const headers = { authorization: `Bot ${practice.bot_token}` };
  expect((await fetch(`${practice.api_url}/v10/guilds/1/bans`, { headers })).status).toBe(404);
  expect(practice.unserved).toEqual(["GET /guilds/1/bans"]);
  const broken = await fetch(`${practice.api_url}/v10/channels/${practice.channelId("general")}/messages`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{",
  });
  expect(await broken.json()).toEqual({ code: 50109, message: "The request body contains invalid JSON." });
  await expect(startPractice({ host: "0.0.0.0" })).rejects.toThrow("this machine only");
  await practice.close();
});

test("quiet threads leave the list when their time is over", async () => {
  let time = Date.now();
  await using bench = await startBot({ now: () => time });
  const { practice, client } = bench;
  const channel = client.channels.cache.get(practice.channelId("general")) as TextChannel;
  const thread = await channel.threads.create({
    name: "quiet",
    type: ChannelType.PublicThread,
    autoArchiveDuration: ThreadAutoArchiveDuration.OneHour,
  });
  time += 61 * 60_000;
  const active = await channel.threads.fetchActive(false);
  expect(active.threads.size).toBe(0);
  const archived = await channel.threads.fetchArchived();
  expect([...archived.threads.keys()]).toEqual([thread.id]);
});
