import { expect, onTestFinished, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

/** A picture of one red point. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64",
);

/** What the conversation's last request holds, as text. */
async function requestWithPicture(provider: string, supports_vision: boolean): Promise<string> {
  const config = `[models.default.capabilities]\nsupports_vision = ${supports_vision}\n`;
  const product = await startProduct({ config, env: { TURNSTONE_PROVIDER: provider, TURNSTONE_API_KEY: "k" } });
  onTestFinished(() => product.close());
  const { practice, model } = product;
  model.script([reply.text("I have looked at it.")]);
  practice.as("Ada").say("general", `<@${practice.bot_id}> what is this?`, {
    attachments: [{ filename: "point.png", content: PNG, content_type: "image/png" }],
  });
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  await practice.waitFor(() => practice.channelAsText(thread).includes("I have looked at it."));
  const asked = model.requests.find(({ last_user_text }) => last_user_text.includes("what is this?"));
  return JSON.stringify(asked?.body);
}

test.each([
  ["openai-compatible", /"type":"image_url","image_url":\{"url":"data:image\/\w+;base64,/],
  ["openai", /"type":"input_image","[^}]*data:image\/\w+;base64,/],
  ["anthropic", /"type":"image","source":\{"type":"base64","media_type":"image\/\w+"/],
])("a picture attached in Discord reaches a model that sees, as %s wants it", async (provider, part) => {
  expect(await requestWithPicture(provider, true)).toMatch(part);
}, 60_000);

test("a model that does not see is told in words which picture there is", async () => {
  const request = await requestWithPicture("openai-compatible", false);
  expect(request).not.toContain("base64");
  expect(request).toMatch(/point\.png/);
}, 60_000);
