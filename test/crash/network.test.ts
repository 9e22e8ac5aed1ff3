import { afterEach, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startWire, type Wire } from "../support/network.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product | null = null;
let wire: Wire | null = null;

afterEach(async () => {
  await product?.close();
  await wire?.close();
  product = null;
  wire = null;
});

/** A product whose gateway reaches its server by a wire that can be cut, and a conversation of Ada's on it. */
async function start(): Promise<{
  running: Product;
  line: Wire;
  thread: string;
  sees(text: string): Promise<unknown>;
}> {
  const running = await startProduct({ server_only: true });
  product = running;
  const line = await startWire(Number(new URL(running.server_url).port));
  wire = line;
  await running.startGateway({ TURNSTONE_SERVER_URL: `http://127.0.0.1:${line.port}` });
  running.model.script([reply.text("Hello Ada.")]);
  const { practice } = running;
  practice.as("Ada").say("general", `<@${practice.bot_id}> hello`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  const sees = (text: string): Promise<unknown> =>
    practice.waitFor(() => practice.as("Ada").channelAsText(thread).includes(text), { timeout_ms: 60_000 });
  await sees("Hello Ada.");
  return { running, line, thread, sees };
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

test("the network between server and gateway is cut while a card waits: people are told, and all goes on once when it is back", async () => {
  const { running, line, thread, sees } = await start();
  const { practice, model } = running;
  const ada = practice.as("Ada");
  model.script([
    reply.toolCalls([{ name: "bash", arguments: { command: "echo once >> effects.txt; wc -l < effects.txt" } }]),
    reply.text("It ran, and this is next."),
  ]);
  ada.say(thread, "run it");
  const card = await practice.waitFor(() =>
    practice.messages(thread).find((message) => practice.messageAsText(message).includes("[Approve]")),
  );
  line.cut("refused");
  const pressed = ada.press(card, "Approve");
  ada.say(thread, "and then?");
  await sees("The server cannot be reached.");
  await sees("My server does not answer. I have your message");
  await pressed;
  expect(practice.channelAsText(thread)).toContain("[Approve]");
  line.heal();
  await practice.waitFor(() => practice.channelAsText(thread).includes("Queued:"), { timeout_ms: 30_000 });
  await ada.press(card, "Approve");
  await sees("It ran, and this is next.");
  expect(count(practice.channelAsText(thread), "It ran, and this is next.")).toBe(1);
  const body = model.requests.at(-1)?.body ?? {};
  const messages = body["messages"] as { role: string; content?: string }[];
  expect(messages.filter(({ content }) => String(content).includes("and then?"))).toHaveLength(1);
  expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual(["1\n"]);
}, 120_000);

test("a connection that falls silent is given up, and what was said meanwhile is shown once", async () => {
  const { running, line, thread, sees } = await start();
  const { practice, model } = running;
  const { reply: held, open } = reply.gate(reply.text("Said in the silence."));
  model.script([held]);
  practice.as("Ada").say(thread, "think");
  await practice.waitFor(() => model.requests.at(-1)?.last_user_text.includes("think"));
  line.cut("silent");
  open();
  await expect.poll(() => running.log(), { timeout: 60_000 }).toContain("The channel stream fell silent.");
  line.heal();
  await sees("Said in the silence.");
  expect(count(practice.channelAsText(thread), "Said in the silence.")).toBe(1);
}, 120_000);
