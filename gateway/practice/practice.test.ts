import { ChannelType } from "discord.js";
import { expect, test } from "vitest";
import { startBot } from "../../test/support/practice_bot.ts";

test("a bot logs in, sees a message and answers it", async () => {
  await using bench = await startBot();
  const { practice, client } = bench;
  client.on("messageCreate", (message) => {
    if (message.mentions.has(client.user?.id ?? "")) void message.reply(`hello ${message.author.displayName}`);
  });
  practice.as("Ada").say("general", `<@${practice.bot_id}> are you there?`);
  await practice.waitFor(() => practice.messages("general").length === 2);
  expect(practice.channelAsText("general")).toBe(
    [
      "#general",
      "Ada: @turnstone are you there?",
      "turnstone: (in reply to Ada: @turnstone are you there?)",
      "  hello Ada",
    ].join("\n"),
  );
  expect(client.channels.cache.get(practice.channelId("ideas"))?.type).toBe(ChannelType.GuildForum);
  expect(practice.unserved).toEqual([]);
});
