import { expect, onTestFinished, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

test("a person's budget of a day ends the turn, an admin extends it once, and it stays extended", async () => {
  const product = await startProduct({ config: "[discord.budgets]\ntokens_per_day = 150\n" });
  onTestFinished(() => product.close());
  const { practice, model } = product;
  const [ada, ben] = [practice.as("Ada"), practice.as("Ben")];
  model.script([reply.text("First answer.", { usage: { input: 100, output: 60 } })]);
  ben.say("general", `<@${practice.bot_id}> hello`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  const sees = (who: typeof ada, text: string): Promise<unknown> =>
    practice.waitFor(() => who.channelAsText(thread).includes(text));
  await sees(ben, "First answer.");
  ben.say(thread, "and more");
  await sees(ben, "Ben has used up today's budget:");
  await sees(ben, "of 150 tokens. It starts anew at midnight UTC");
  const asked = model.requests.filter(({ last_user_text }) => last_user_text.includes("and more"));
  expect(asked).toEqual([]);
  const card = practice
    .messages(thread)
    .find((one) => practice.messageAsText(one).includes("[Allow as much again today]"));
  if (card === undefined) throw new Error("No button to extend the budget.");
  await ben.press(card, "Allow as much again today");
  await sees(ben, "Only admins may extend a budget");
  await ada.press(card, "Allow as much again today");
  await sees(ben, "**Ada** allowed Ben as much again today. Say “continue” to go on.");
  await ada.press(card, "Allow as much again today");
  await sees(ada, "This budget was extended already.");
  await product.killServer();
  await product.startServer();
  model.script([reply.text("Second answer.", { usage: { input: 10, output: 10 } })]);
  ben.say(thread, "continue");
  await sees(ben, "Second answer.");
  const list = await product.api("GET", "/v1/api/workstreams", undefined, product.token_of_ben);
  const [workstream] = list.body["workstreams"] as { ws_id: string }[];
  const asked_status = { command: "/status", ws_id: workstream?.ws_id };
  const status = await product.api("POST", "/v1/api/command", asked_status, product.token_of_ben);
  expect(status.body["output"]).toMatch(/\(budget: \d+ of 300 tokens\)/);
  const audit = await product.api("GET", "/v1/api/admin/audit?action=budget.extended");
  expect(audit.body["entries"]).toMatchObject([{ action: "budget.extended", details: { extension: 1 } }]);
}, 120_000);
