import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product | null = null;

afterEach(async () => {
  await product?.close();
  product = null;
});

/** Ada mentions the bot; answers the thread that opens. */
async function mention(running: Product, text: string): Promise<string> {
  const { practice } = running;
  practice.as("Ada").say("general", `<@${practice.bot_id}> ${text}`);
  return practice.waitFor(() => practice.threads("general")[0]?.id);
}

function threadText(running: Product, thread: string): string {
  return running.practice.channelAsText(thread);
}

/** The message that asks for approval, once it is there. */
function card(running: Product, thread: string) {
  return running.practice.waitFor(() =>
    running.practice.messages(thread).find((message) => running.practice.messageAsText(message).includes("[Approve]")),
  );
}

function bash(command: string) {
  return reply.toolCalls([{ name: "bash", arguments: { command } }]);
}

test("message: a mention opens a thread and the answer streams into it, however fast it comes (REQ-DISCORD-001, DEVT-07)", async () => {
  product = await startProduct();
  product.model.script([reply.text("The capital of Iceland is Reykjavík.")]);
  const thread = await mention(product, "what is the capital of Iceland?");
  const running = product;
  await running.practice.waitFor(() => threadText(running, thread).includes("Reykjavík"));
  expect(running.practice.threads("general")).toHaveLength(1);
  expect(running.model.requests[0]?.last_user_text).toContain("what is the capital of Iceland?");
  expect(running.model.problems).toEqual([]);
});

test("approval: a command waits for the button, runs once, and its result comes back (REQ-DISCORD-002)", async () => {
  product = await startProduct();
  const running = product;
  running.model.script([bash("echo hello >> proof.txt; echo done"), reply.text("It is done.")]);
  const thread = await mention(running, "write the proof");
  const asked = await card(running, thread);
  expect(existsSync(join(running.workspace, "proof.txt"))).toBe(false);
  expect(running.practice.messageAsText(asked)).toContain("echo hello >> proof.txt; echo done");
  await running.practice.as("Ada").press(asked, "Approve");
  await running.practice.waitFor(() => threadText(running, thread).includes("It is done."));
  expect(readFileSync(join(running.workspace, "proof.txt"), "utf8")).toBe("hello\n");
  expect(threadText(running, thread)).toMatch(/Approved by .*Ada/);
});

test("denial with a reason: nothing runs and the reason reaches the model (REQ-DISCORD-003)", async () => {
  product = await startProduct();
  const running = product;
  running.model.script([bash("echo no >> proof.txt"), reply.text("I will not.")]);
  const thread = await mention(running, "write the proof");
  const asked = await card(running, thread);
  const answer = await running.practice.as("Ada").press(asked, "Deny with reason…");
  if (answer.outcome !== "modal") throw new Error("No form opened.");
  await running.practice.as("Ada").submit(answer, { reason: "the folder is not ours" });
  await running.practice.waitFor(() => threadText(running, thread).includes("I will not."));
  expect(existsSync(join(running.workspace, "proof.txt"))).toBe(false);
  expect(JSON.stringify(running.model.requests[1]?.body)).toContain("the folder is not ours");
});

// REQ-CRASH-003
test("restart: kill -9 of the server while a card is pending; the same card's button runs the command, once", async () => {
  product = await startProduct();
  const running = product;
  running.model.script([bash("echo once >> proof.txt"), reply.text("It is done.")]);
  const thread = await mention(running, "write the proof");
  const asked = await card(running, thread);
  await running.killServer();
  await running.startServer();
  await running.practice.as("Ada").press(asked, "Approve");
  await running.practice.waitFor(() => threadText(running, thread).includes("It is done."));
  expect(readFileSync(join(running.workspace, "proof.txt"), "utf8")).toBe("once\n");
  expect(threadText(running, thread).match(/Approved by/g)).toHaveLength(1);
});

// REQ-CRASH-004
test("restart: kill -9 of the gateway while a card is pending; the same card's button runs the command, once", async () => {
  product = await startProduct();
  const running = product;
  running.model.script([bash("echo once >> proof.txt"), reply.text("It is done.")]);
  const thread = await mention(running, "write the proof");
  const asked = await card(running, thread);
  await running.killGateway();
  await running.startGateway();
  await running.practice.as("Ada").press(asked, "Approve");
  await running.practice.waitFor(() => threadText(running, thread).includes("It is done."));
  expect(readFileSync(join(running.workspace, "proof.txt"), "utf8")).toBe("once\n");
});

test("queue: a message during a turn waits, joins after the results, and is answered (REQ-DISCORD-004, DEVT-08)", async () => {
  product = await startProduct();
  const running = product;
  running.model.script([bash("echo one"), reply.text("Both are done.")]);
  const thread = await mention(running, "first thing");
  const asked = await card(running, thread);
  running.practice.as("Ada").say(thread, "and a second thing");
  await running.practice.waitFor(() => threadText(running, thread).includes("second thing"));
  await running.practice.as("Ada").press(asked, "Approve");
  await running.practice.waitFor(() => threadText(running, thread).includes("Both are done."));
  expect(running.model.requests[1]?.last_user_text).toContain("and a second thing");
});

test("cancel: Stop ends the turn, settles the card and runs nothing (REQ-DISCORD-005)", async () => {
  product = await startProduct();
  const running = product;
  running.model.script([bash("echo no >> proof.txt")]);
  const thread = await mention(running, "write the proof");
  await card(running, thread);
  const live = await running.practice.waitFor(() =>
    running.practice.messages(thread).find((message) => running.practice.messageAsText(message).includes("[Stop]")),
  );
  await running.practice.as("Ada").press(live, "Stop");
  await running.practice.waitFor(() => !threadText(running, thread).includes("[Approve]"));
  expect(existsSync(join(running.workspace, "proof.txt"))).toBe(false);
});

test("reconnect: what is said while the gateway is away is read afterwards, in order, once", async () => {
  product = await startProduct();
  const running = product;
  let count = 0;
  running.model.script(() => reply.text(`Answer number ${(count += 1)}.`));
  const thread = await mention(running, "first");
  await running.practice.waitFor(() => threadText(running, thread).includes("Answer number 1."));
  await running.killGateway();
  running.practice.as("Ada").say(thread, "second");
  running.practice.as("Ada").say(thread, "third");
  await running.startGateway();
  const last = await running.practice.waitFor(() =>
    running.model.requests.find((request) => request.last_user_text.includes("third")),
  );
  await running.practice.waitFor(() => threadText(running, thread).includes(`Answer number ${count}.`));
  const said = JSON.stringify(last.body);
  expect(said.match(/second/g)).toHaveLength(1);
  expect(said.match(/third/g)).toHaveLength(1);
  expect(said.indexOf("second")).toBeLessThan(said.indexOf("third"));
});

test("a person without an account gets one kind answer, and nothing runs (REQ-DISCORD-006)", async () => {
  product = await startProduct();
  const running = product;
  const { practice } = running;
  practice.as("Cleo").say("general", `<@${practice.bot_id}> hello`);
  await practice.waitFor(
    () => practice.channelAsText("general").includes("link") || practice.channelAsText("general").includes("Link"),
  );
  expect(running.model.requests).toEqual([]);
});
