import { expect, onTestFinished, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

test("a second opinion appears on the card, and below the bar the call runs on its word", async () => {
  const product = await startProduct({ config: '[approval]\njudge = "default"\nauto_approve_below = "medium"\n' });
  onTestFinished(() => product.close());
  const { practice, model } = product;
  let risk = "high";
  model.conversation(
    ({ system_text }) => system_text.startsWith("You judge how risky"),
    (request) => {
      const { calls } = JSON.parse(request.last_user_text) as { calls: { call_id: string }[] };
      const opinion = { risk, reason: "It writes one *line*." };
      return reply.text(JSON.stringify(Object.fromEntries(calls.map(({ call_id }) => [call_id, opinion]))));
    },
  );
  model.script([
    reply.toolCalls([{ name: "bash", arguments: { command: "echo one" } }]),
    reply.text("The first ran."),
    reply.toolCalls([{ name: "bash", arguments: { command: "echo two" } }]),
    reply.text("The second ran."),
  ]);
  const ada = practice.as("Ada");
  ada.say("general", `<@${practice.bot_id}> run it`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  const sees = (text: string): Promise<unknown> =>
    practice.waitFor(() => practice.channelAsText(thread).includes(text));
  await sees("🔴 Second opinion: high risk. It writes one \\*line\\*.");
  const card = practice.messages(thread).find((one) => practice.messageAsText(one).includes("[Approve]"));
  if (card === undefined) throw new Error("The card asks no more.");
  await ada.press(card, "Approve");
  await sees("The first ran.");
  risk = "low";
  ada.say(thread, "and again");
  await sees("The second ran.");
  await sees("Allowed on the second opinion's word");
  expect(practice.channelAsText(thread)).not.toContain("[Approve]");
}, 60_000);
