import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

test("several people press at once: the right one counts, once, and each other learns in private why not", async () => {
  const product = await startProduct();
  onTestFinished(() => product.close());
  const { practice, model } = product;
  const [ada, ben, cleo] = [practice.as("Ada"), practice.as("Ben"), practice.as("Cleo")];
  model.script([
    reply.toolCalls([{ name: "bash", arguments: { command: "echo once >> effects.txt" } }]),
    reply.text("It ran."),
    reply.text("Hello Ben."),
  ]);
  ada.say("general", `<@${practice.bot_id}> run it`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  const card = await practice.waitFor(() =>
    practice.messages(thread).find((message) => practice.messageAsText(message).includes("[Approve]")),
  );
  const list = await product.api("GET", "/v1/api/workstreams");
  const [workstream] = list.body["workstreams"] as { ws_id: string }[];
  await product.api("POST", `/v1/api/workstreams/${workstream?.ws_id}/invite`, { username: "ben" });
  await Promise.all([
    cleo.press(card, "Approve"),
    ben.press(card, "Approve"),
    ada.press(card, "Approve"),
    // Either of her presses may be the first; a no beside a yes would leave open which of them counts.
    ada.press(card, "Approve").catch(() => undefined),
  ]);
  await practice.waitFor(() => practice.channelAsText(thread).includes("It ran."));
  expect(readFileSync(join(product.workspace, "effects.txt"), "utf8")).toBe("once\n");
  expect(practice.channelAsText(thread)).toContain("✅ Approved by **Ada**");
  await practice.waitFor(() => ben.channelAsText(thread).includes("Your account or token may not decide"));
  await practice.waitFor(() => cleo.channelAsText(thread).includes("yours is not linked to Discord yet"));
  await practice.waitFor(() =>
    /This is (?:already approved by \*\*Ada\*\*|decided already)/.test(ada.channelAsText(thread)),
  );
  expect(practice.channelAsText(thread)).not.toMatch(/may not decide|not linked|decided already/);
  ben.say(thread, "and I may speak here");
  await practice.waitFor(() => practice.channelAsText(thread).includes("Hello Ben."));
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("[Ben] and I may speak here");
}, 60_000);
