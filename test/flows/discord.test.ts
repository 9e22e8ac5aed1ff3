import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product;
let thread = "";

/** One conversation of Ada's, in which all tests go on. */
beforeAll(async () => {
  product = await startProduct();
  const { practice, model } = product;
  model.script([reply.text("Hello Ada.")]);
  practice.as("Ada").say("general", `<@${practice.bot_id}> hello`);
  thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  await adaSees("Hello Ada.");
}, 120_000);

afterAll(() => product?.close());

function adaSees(text: string): Promise<unknown> {
  const { practice } = product;
  return practice.waitFor(() => practice.as("Ada").channelAsText(thread).includes(text));
}

test("/file brings a file of the workspace to the person who asks, and none from outside", async () => {
  const ada = product.practice.as("Ada");
  writeFileSync(join(product.workspace, "report.csv"), "a,b\n1,2\n");
  await ada.slash(thread, "file", { path: "report.csv" });
  await adaSees("(file report.csv, 8 bytes)");
  await ada.slash(thread, "file", { path: join(product.data_dir, "turnstone.db") });
  await adaSees("belongs to the server itself");
  await ada.slash(thread, "file", { path: "/etc/passwd" });
  await adaSees("lies outside of the workstream's folder");
  await ada.slash(thread, "file", { path: "missing.txt" });
  await adaSees("missing.txt does not exist");
  expect(product.practice.channelAsText(thread)).not.toContain("report.csv");
}, 60_000);

test("/model suggests what the server has, and /doctor finds nothing wrong", async () => {
  const ada = product.practice.as("Ada");
  const offered = await ada.autocomplete(thread, "model", { model: "" }, "model");
  expect(offered).toMatchObject({ choices: [{ value: "default" }] });
  await ada.slash(thread, "doctor");
  await adaSees("Everything works.");
}, 60_000);

test("a press that comes too late learns who was first, and when", async () => {
  const { practice, model } = product;
  model.script([reply.toolCalls([{ name: "bash", arguments: { command: "echo late" } }]), reply.text("Ran.")]);
  practice.as("Ada").say(thread, "run it");
  const asked = await practice.waitFor(() =>
    practice.messages(thread).find((message) => practice.messageAsText(message).includes("[Approve]")),
  );
  await practice.as("Ada").press(asked, "Approve");
  await adaSees("Ran.");
  const route = await product.api("GET", "/v1/api/workstreams");
  const [workstream] = route.body["workstreams"] as { ws_id: string }[];
  const cycle_id = /approve:([^"]+)/.exec(JSON.stringify(product.practice.requests))?.[1];
  const late = await product.api("POST", `/v1/api/workstreams/${workstream?.ws_id}/approve`, {
    approved: true,
    cycle_id,
  });
  expect(late).toMatchObject({ status: 409, body: { approved: true, decided_by: { name: "Ada" } } });
  expect(Date.parse(String(late.body["decided_at"]))).toBeGreaterThan(0);
}, 60_000);

test("whoever presses Tell me when done is told once, by DM, when the turn has ended", async () => {
  const { practice, model } = product;
  const ada = practice.as("Ada");
  const { reply: held, open } = reply.gate(reply.text("That took long."));
  model.script([held, reply.text("And this did not.")]);
  ada.say(thread, "think hard");
  await practice.waitFor(() => model.requests.at(-1)?.last_user_text.includes("think hard"));
  await ada.slash(thread, "status");
  const card = await practice.waitFor(() =>
    ada.sees(thread).find((one) => practice.messageAsText(one).includes("[Tell me when done]")),
  );
  expect(practice.messageAsText(card)).toContain("Model scripted · ");
  expect(practice.messageAsText(card)).not.toContain("waiting");
  await ada.press(card, "Tell me when done");
  await adaSees("Ada is told by DM when this is done.");
  open();
  await practice.waitFor(() => practice.dmAsText("Ada").includes("has finished after less than a minute"));
  ada.say(thread, "and now");
  await adaSees("And this did not.");
  expect(practice.dmAsText("Ada").match(/has finished/g)).toHaveLength(1);
}, 60_000);

test("/close is for the owner: the turn is stopped, the person is told, and then the thread is archived (DEVT-21)", async () => {
  const { practice, model } = product;
  const { reply: held, open } = reply.gate(reply.text("Never said."));
  model.script([held]);
  practice.as("Ada").say(thread, "a long job");
  await practice.waitFor(() => model.requests.at(-1)?.last_user_text.includes("a long job"));
  await practice.as("Ben").slash(thread, "close");
  await practice.waitFor(() => practice.as("Ben").channelAsText(thread).includes("belongs to somebody else"));
  const isArchived = (): boolean =>
    practice.threads("general").find(({ id }) => id === thread)?.thread?.archived === true;
  expect(isArchived()).toBe(false);
  await practice.as("Ada").slash(thread, "close");
  await adaSees("Closed.");
  await practice.waitFor(isArchived);
  open();
  model.script([reply.text("Open again.")]);
  practice.admin.unarchive(thread);
  practice.as("Ada").say(thread, "one more thing");
  await adaSees("Open again.");
  expect(practice.channelAsText(thread)).not.toContain("Never said.");
}, 60_000);

test("a deleted thread ends its conversation and its owner is told", async () => {
  const { practice } = product;
  practice.admin.deleteChannel(thread);
  await practice.waitFor(() => practice.dmAsText("Ada").includes("thread was deleted"));
  expect(practice.threads("general")).toEqual([]);
}, 60_000);
