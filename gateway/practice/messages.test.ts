import {
  AttachmentBuilder,
  ChannelType,
  ComponentType,
  DiscordAPIError,
  ThreadAutoArchiveDuration,
  RESTJSONErrorCodes,
} from "discord.js";
import type { Client, TextChannel, ThreadChannel } from "discord.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PracticeDiscord } from "./index.ts";
import { assertFaithful, startBot } from "../../test/support/practice_bot.ts";
import type { Bench } from "../../test/support/practice_bot.ts";

let bench: Bench;
let practice: PracticeDiscord;
let client: Client<true>;

beforeEach(async () => {
  bench = await startBot();
  ({ practice, client } = bench);
});

afterEach(async () => {
  assertFaithful(practice);
  await bench[Symbol.asyncDispose]();
});

function general(): TextChannel {
  return client.channels.cache.get(practice.channelId("general")) as TextChannel;
}

async function codeOf(action: Promise<unknown>): Promise<number | string> {
  const error = await action.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DiscordAPIError)) throw new Error(`Not refused by Discord: ${String(error)}`);
  return error.code;
}

test("a thread from a message has its id, carries messages both ways and exists once (DEVT-15)", async () => {
  practice.as("Ada").say("general", "build me a boat");
  const seen = await practice.waitFor(() => general().messages.cache.first());
  const thread = await seen.startThread({ name: "boat", autoArchiveDuration: ThreadAutoArchiveDuration.OneDay });
  expect(thread.id).toBe(seen.id);
  await thread.send("which wood?");
  practice.as("Ada").say(thread.id, "oak");
  await practice.waitFor(() => thread.messages.cache.some((message) => message.content === "oak"));
  expect(practice.channelAsText(thread.id)).toContain("turnstone: which wood?\nAda: oak");
  expect(await codeOf(general().threads.create({ name: "again", startMessage: seen.id }))).toBe(160004);
  await thread.setName("a boat of oak");
  expect(practice.threads("general").map((one) => one.name)).toEqual(["a boat of oak"]);
  expect((await general().messages.fetch(seen.id)).hasThread).toBe(true);
});

test("an archived thread takes no edits until somebody writes (DREN-14)", async () => {
  const thread = await general().threads.create({ name: "cold", type: ChannelType.PublicThread });
  const card = await thread.send("working");
  practice.admin.archive(thread.id);
  expect(await codeOf(card.edit("done"))).toBe(50083);
  await thread.send("waking up");
  await card.edit("done");
  expect(practice.channelAsText(thread.id)).toContain("turnstone: done\n  (edited)");
  practice.admin.setPermissions("general", practice.bot_id, { deny: ["manage_threads"] });
  practice.admin.archive(thread.id, { locked: true });
  expect(await codeOf(thread.send("anybody?"))).toBe(160005);
});

test("own messages can be edited and deleted, those of others not", async () => {
  const own = await general().send("draft");
  await own.edit("final");
  const other = practice.as("Ben").say("general", "mine");
  expect(await codeOf(general().messages.edit(other.id, "yours"))).toBe(
    RESTJSONErrorCodes.CannotEditMessageAuthoredByAnotherUser,
  );
  expect(await codeOf(general().messages.delete(other.id))).toBe(RESTJSONErrorCodes.MissingPermissions);
  await own.delete();
  expect(await codeOf(own.edit("again"))).toBe(RESTJSONErrorCodes.UnknownMessage);
  expect(practice.channelAsText("general")).toBe("#general\nBen: mine");
});

test("a person's edits and deletions reach the bot (DEVT-13)", async () => {
  const ada = practice.as("Ada");
  const message = ada.say("general", "frist");
  const edited = new Promise<string>((resolve) => client.once("messageUpdate", (_old, now) => resolve(now.content)));
  ada.edit(message, "first");
  expect(await edited).toBe("first");
  const gone = new Promise<string>((resolve) => client.once("messageDelete", (one) => resolve(one.id)));
  ada.remove(message);
  expect(await gone).toBe(message.id);
});

test("files travel both ways by links that expire", async () => {
  await general().send({
    content: "the report",
    files: [new AttachmentBuilder(Buffer.from("a,b\n1,2\n"), { name: "my report.csv", description: "numbers" })],
  });
  expect(practice.channelAsText("general")).toContain("(file my_report.csv, 8 bytes)");
  practice.as("Ada").say("general", "", { attachments: [{ filename: "notes.txt", content: "remember" }] });
  const message = await practice.waitFor(() =>
    general().messages.cache.find((one) => one.attachments.size > 0 && !one.author.bot),
  );
  const file = message.attachments.first();
  const response = await fetch(file?.url ?? "");
  expect(await response.text()).toBe("remember");
  expect((await fetch((file?.url ?? "").replace(/hm=./, "hm=x"))).status).toBe(404);
});

test("a nonce that is enforced makes one message", async () => {
  const [first, second] = [
    await general().send({ content: "once", nonce: "ws1:7:0", enforceNonce: true }),
    await general().send({ content: "once", nonce: "ws1:7:0", enforceNonce: true }),
  ];
  expect(second.id).toBe(first.id);
  expect(practice.messages("general")).toHaveLength(1);
});

test.each([
  ["2001 characters", { content: "x".repeat(2001) }, 50035],
  ["nothing", { content: "" }, 50006],
  ["a zero-width space (DREN-06)", { content: "\u200b" }, 50006],
  ["half an emoji (DREN-05)", { content: "a\ud83d" }, 50035],
  ["a nonce of 26 characters", { content: "x", nonce: "n".repeat(26) }, 50035],
  ["parse and ids of users at once", { content: "x", allowed_mentions: { parse: ["users"], users: ["1"] } }, 50035],
  ["an unknown message to answer", { content: "x", message_reference: { message_id: "5" } }, 50035],
  ["six rows", { components: Array.from({ length: 6 }, (_, n) => row(button(`b${n}`))) }, 50035],
  ["six buttons in a row", { components: [row(...Array.from({ length: 6 }, (_, n) => button(`b${n}`)))] }, 50035],
  ["two buttons of one id", { components: [row(button("same"), button("same"))] }, 50035],
  ["a button without label", { components: [row({ type: 2, style: 1, custom_id: "x" })] }, 50035],
  ["a button without id", { components: [row({ type: 2, style: 1, label: "x" })] }, 50035],
  ["a link with an id", { components: [row({ ...button("x"), style: 5, url: "https://a.b" })] }, 50035],
  ["an id of 101 characters", { components: [row(button("x".repeat(101)))] }, 50035],
  ["a label of 81 characters", { components: [row({ ...button("x"), label: "l".repeat(81) })] }, 50035],
  ["a text display without the flag", { components: [{ type: 10, content: "x" }] }, 50035],
  ["content with Components V2", { content: "x", flags: 32768, components: [{ type: 10, content: "y" }] }, 50035],
  ["4001 characters of text displays", { flags: 32768, components: texts(2, 2001) }, 50035],
  ["41 components", { flags: 32768, components: [{ type: 17, components: texts(40, 1) }] }, 50035],
  [
    "a container in a container",
    { flags: 32768, components: [container(container({ type: 10, content: "x" }))] },
    50035,
  ],
  ["a section without accessory", { flags: 32768, components: [{ type: 9, components: texts(1, 1) }] }, 50035],
  ["a file that is not there", { flags: 32768, components: [{ type: 13, file: { url: "attachment://a.md" } }] }, 50035],
  ["an empty embed", { embeds: [{}] }, 50035],
  ["embeds of 6001 characters", { embeds: [4000, 2001].map((size) => ({ description: "e".repeat(size) })) }, 50035],
  ["an ephemeral message outside interactions", { content: "x", flags: 64 }, 50035],
])("refuses a message with %s", async (_what, body, code) => {
  expect(await codeOf(client.rest.post(`/channels/${practice.channelId("general")}/messages`, { body }))).toBe(code);
  expect(practice.messages("general")).toEqual([]);
});

test("a refusal says where and why (REQ-DISCORD-029)", async () => {
  const body = { components: [row(button("a")), row({ ...button("b"), label: "l".repeat(81) })] };
  await client.rest.post(`/channels/${practice.channelId("general")}/messages`, { body }).catch(() => null);
  expect(practice.requests.at(-1)?.response).toEqual({
    code: 50035,
    message: "Invalid Form Body",
    errors: {
      components: {
        1: {
          components: {
            0: { label: { _errors: [{ code: "BASE_TYPE_MAX_LENGTH", message: "Must be 80 or fewer in length." }] } },
          },
        },
      },
    },
  });
});

test("a card of Components V2 keeps its flag and its file through an edit", async () => {
  const body = {
    flags: 32768,
    components: [
      container(
        { type: 10, content: "**Deploy?**" },
        { type: 14 },
        { type: 13, file: { url: "attachment://plan.md" } },
      ),
      row(button("yes"), { ...button("no"), style: 4 }),
    ],
  };
  const files = [{ name: "plan.md", data: Buffer.from("# plan") }];
  const sent = await client.rest.post(`/channels/${practice.channelId("general")}/messages`, { body, files });
  expect(practice.channelAsText("general")).toBe(
    [
      "#general",
      "turnstone:",
      "  | **Deploy?**",
      "  | ---",
      "  | (file plan.md)",
      "  [yes] [no]",
      "  (file plan.md, 6 bytes)",
    ].join("\n"),
  );
  const message = await general().messages.fetch((sent as { id: string }).id);
  await message.edit({ components: [{ type: ComponentType.TextDisplay, content: "Deployed." }] });
  expect(practice.channelAsText("general")).toContain("turnstone: Deployed.");
  expect(await codeOf(message.edit({ content: "plain again" }))).toBe(50035);
});

test("mentions ping whom they may: everyone, roles and replies only where allowed", async () => {
  const ask = practice.as("Ada").say("general", `<@${practice.bot_id}> hi @everyone`);
  expect(ask.mention_everyone).toBe(true);
  expect(practice.as("Cleo").say("general", "@everyone").mention_everyone).toBe(false);
  const answer = await general().send({
    content: `<@${practice.userId("Ben")}> <@${practice.userId("Cleo")}>`,
    allowedMentions: { users: [practice.userId("Ben")], repliedUser: false },
    reply: { messageReference: ask.id },
  });
  expect([...answer.mentions.users.keys()]).toEqual([practice.userId("Ben")]);
});

test("rights decide: hidden channels, sending, threads, files (DREN-15)", async () => {
  const everyone = "@everyone";
  practice.admin.setPermissions("random", everyone, { deny: ["view_channel"] });
  practice.admin.setPermissions("random", practice.bot_id, { deny: ["view_channel"] });
  const random = practice.channelId("random");
  expect(await codeOf(client.rest.post(`/channels/${random}/messages`, { body: { content: "x" } }))).toBe(50001);
  practice.admin.setPermissions("general", practice.bot_id, { deny: ["send_messages", "create_public_threads"] });
  expect(await codeOf(general().send("x"))).toBe(50013);
  const message = practice.as("Ada").say("general", "task");
  expect(await codeOf(general().threads.create({ name: "t", startMessage: message.id }))).toBe(50013);
  practice.admin.setPermissions("general", practice.bot_id, { deny: ["attach_files"] });
  expect(await codeOf(general().send({ files: [{ attachment: Buffer.from("x"), name: "a.txt" }] }))).toBe(50013);
});

test("a deleted thread is unknown (DREN-13)", async () => {
  const thread: ThreadChannel = await general().threads.create({ name: "gone", type: ChannelType.PublicThread });
  practice.admin.deleteChannel(thread.id);
  expect(await codeOf(thread.send("x"))).toBe(RESTJSONErrorCodes.UnknownChannel);
});

test("direct messages work until the person closes them", async () => {
  const ada = practice.as("Ada");
  const dm = ada.openDm();
  ada.say(dm, "psst");
  const seen = await new Promise<string>((resolve) =>
    client.once("messageCreate", (message) => resolve(message.content)),
  );
  expect(seen).toBe("psst");
  const user = await client.users.fetch(ada.id);
  await user.send("yes?");
  expect(practice.dmAsText("Ada")).toBe("DM with Ada\nAda: psst\nturnstone: yes?");
  practice.faults.closeDms("Ben", true);
  const ben = await client.users.fetch(practice.userId("Ben"));
  expect(await codeOf(ben.send("hello"))).toBe(RESTJSONErrorCodes.CannotSendMessagesToThisUser);
});

test("history is read in pages, newest first", async () => {
  const ada = practice.as("Ada");
  const all = Array.from({ length: 7 }, (_, index) => ada.say("general", `m${index}`));
  const after = await general().messages.fetch({ after: all[2]?.id ?? "", limit: 3 });
  expect(after.map((message) => message.content)).toEqual(["m5", "m4", "m3"]);
  const before = await general().messages.fetch({ before: all[2]?.id ?? "", limit: 50 });
  expect(before.map((message) => message.content)).toEqual(["m1", "m0"]);
});

test("stickers, forwards, polls and webhooks come as they are (DEVT-11, DEVT-12)", async () => {
  const ada = practice.as("Ada");
  ada.say("general", "", { stickers: ["wave"] });
  ada.say("random", "", { forward: ada.say("general", "look") });
  ada.say("general", "", { poll: "tea?" });
  practice.admin.webhookSays("general", "builds", "green");
  const messages = [...(await general().messages.fetch()).values()].toReversed();
  expect(
    messages.map((one) => [one.content, one.stickers.size, one.poll?.question.text ?? null, one.webhookId !== null]),
  ).toEqual([
    ["", 1, null, false],
    ["look", 0, null, false],
    ["", 0, "tea?", false],
    ["green", 0, null, true],
  ]);
  const random = client.channels.cache.get(practice.channelId("random")) as TextChannel;
  const forward = (await random.messages.fetch()).first();
  expect(forward?.messageSnapshots.first()?.content).toBe("look");
});

test("a forum takes posts with a first message and nothing else", async () => {
  const forum = practice.channelId("ideas");
  expect(await codeOf(client.rest.post(`/channels/${forum}/messages`, { body: { content: "x" } }))).toBe(50024);
  const body = { name: "an idea", message: { content: "let us" } };
  await client.rest.post(`/channels/${forum}/threads`, { body });
  expect(practice.channelAsText("an idea")).toBe("thread an idea\nturnstone: let us");
});

function row(...components: object[]): object {
  return { type: 1, components };
}

function button(id: string): object {
  return { type: 2, style: 1, label: id.slice(0, 80), custom_id: id };
}

function container(...components: object[]): object {
  return { type: 17, accent_color: 0xff8800, components };
}

function texts(count: number, size: number): object[] {
  return Array.from({ length: count }, () => ({ type: 10, content: "t".repeat(size) }));
}
