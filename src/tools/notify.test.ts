import { afterEach, beforeEach, expect, test } from "vitest";
import { toolBench, type ToolBench } from "../../test/support/tool_context.ts";
import type { DeliverResult, ToolContext } from "../contracts/tool.ts";
import type { JsonObject } from "../protocol/json.ts";
import { notifyTool } from "./notify.ts";

const tool = notifyTool();
const SENT: DeliverResult = {
  ok: true,
  notification_id: "n1",
  deliveries: [{ channel_type: "discord", channel_id: "7", status: "sent", message_id: "8" }],
};
let bench: ToolBench;
let asked: Parameters<ToolContext["deliver"]>[0][];
beforeEach(() => {
  asked = [];
  bench = toolBench();
  bench.with({ deliver: async (request) => (asked.push(request), SENT) });
});
afterEach(() => bench.remove());

async function refusal(args: JsonObject): Promise<string> {
  const preparation = await tool.prepare(args, bench.context);
  expect(asked).toEqual([]);
  return preparation.ok ? "(accepted)" : preparation.error;
}

// REQ-NOTIFY-009
test("a message goes to a person by name, and the model is told no more than that it was sent", async () => {
  const result = await bench.call(tool, { message: "  The build is green.  ", username: " @ada ", title: " Build " });
  expect(asked).toEqual([{ target: { username: "ada" }, message: "The build is green.", title: "Build" }]);
  expect(result).toMatchObject({ output: "sent", is_error: false, effect: "done" });
  expect(result).toMatchObject({
    notification: { notification_id: "n1", message: "The build is green.", title: "Build" },
  });
});

test("a message goes to a channel by its id, unasked, with its target in the header", async () => {
  const preparation = await tool.prepare({ message: "hi", channel_type: "discord", channel_id: "123" }, bench.context);
  expect(preparation).toMatchObject({ ok: true, header: "notify → discord:123", preview: "hi", needs_approval: false });
  await bench.call(tool, { message: "hi", channel_type: "discord", channel_id: "123" });
  expect(asked).toEqual([{ target: { channel_type: "discord", channel_id: "123" }, message: "hi" }]);
});

test.each([
  [{ username: "ada", channel_type: "discord", channel_id: "1" }, "not both"],
  [{ username: "ada", channel_id: "1" }, "not both"],
  [{ channel_type: "discord" }, "channel_id is missing"],
  [{ channel_id: "1" }, "channel_type is missing"],
  [{ channel_type: "discord", channel_id: "  " }, "channel_id is missing"],
  [{ username: " " }, "who it is for"],
  [{}, "who it is for"],
  [{ channel_type: "discord", channel_id: 123456789012345680 }, "channel_id must be a string"],
])("the target %j is refused before anything is sent (NTFY-14)", async (target, words) => {
  expect(await refusal({ message: "hi", ...target })).toContain(words);
});

test.each(["", "   ", "\u200b\u200d \u2060", "\u2800\ufe0f", "\n\t"])(
  "the blank message %j is refused (NTFY-17)",
  async (message) => {
    expect(await refusal({ message, username: "ada" })).toContain("message is empty");
  },
);

test("length counts what people count as characters (NTFY-16)", async () => {
  expect(await refusal({ message: "😀".repeat(2001), username: "ada" })).toContain("2,001 characters");
  expect(await refusal({ message: "x".repeat(2001), username: "ada" })).toContain("at most 2000");
  expect(await refusal({ message: "hi", title: "x".repeat(201), username: "ada" })).toContain("200");
  expect(await refusal({ message: `  ${"😀".repeat(2000)}  `, title: "😀".repeat(200), username: "ada" })).toBe(
    "(accepted)",
  );
});

test("a failure is told in general words and leaves no notification", async () => {
  bench.with({
    deliver: async () => ({ ok: false, notification_id: "n1", error: "It could not be delivered.", deliveries: [] }),
  });
  const result = await bench.call(tool, { message: "hi", username: "ada" });
  expect(result).toMatchObject({ output: "It could not be delivered.", is_error: true, effect: "none" });
  expect(result).not.toHaveProperty("notification");
});
