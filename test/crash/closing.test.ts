import { afterEach, expect, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";

let product: Product | null = null;

afterEach(async () => {
  await product?.close();
  product = null;
});

/** Ada begins a conversation that waits for her yes. */
async function askInThread(running: Product): Promise<{ thread: string; ws_id: string }> {
  const { practice, model } = running;
  model.script([reply.toolCalls([{ name: "bash", arguments: { command: "echo never" } }])]);
  practice.as("Ada").say("general", `<@${practice.bot_id}> run it`);
  const thread = await practice.waitFor(() => practice.threads("general").at(-1)?.id);
  await practice.waitFor(() => practice.channelAsText(thread).includes("[Approve]"));
  const { body } = await running.api("GET", "/v1/api/workstreams");
  const [workstream] = body["workstreams"] as { ws_id: string }[];
  return { thread, ws_id: String(workstream?.ws_id) };
}

function isArchived({ practice }: Product, thread: string): boolean {
  return practice.threads("general").find(({ id }) => id === thread)?.thread?.archived === true;
}

function times(text: string, words: string): number {
  return text.split(words).length - 1;
}

test("a conversation that is closed while the gateway is away: the thread says so once, has no live button and is archived", async () => {
  product = await startProduct();
  const running = product;
  const { practice, model } = running;
  const { thread, ws_id } = await askInThread(running);
  await running.killGateway();
  expect(await running.api("POST", `/v1/api/workstreams/${ws_id}/close`)).toMatchObject({ status: 200 });
  await running.startGateway();
  await practice.waitFor(() => isArchived(running, thread));
  expect(practice.channelAsText(thread)).toContain("This conversation is closed. Write here to open it again.");
  expect(practice.channelAsText(thread)).not.toMatch(/\[(Approve|Deny|Stop)\](?! \(off\))/);
  practice.admin.unarchive(thread);
  await running.stopGateway();
  await running.startGateway();
  model.script([reply.text("Open again.")]);
  practice.as("Ada").say(thread, "one more thing");
  await practice.waitFor(() => practice.channelAsText(thread).includes("Open again."));
  expect(times(practice.channelAsText(thread), "This conversation is closed.")).toBe(1);
  expect(isArchived(running, thread)).toBe(false);
}, 120_000);

test("a conversation that is deleted while the gateway is away: the thread says so, and a mention begins a new one there", async () => {
  product = await startProduct();
  const running = product;
  const { practice, model } = running;
  const { thread, ws_id } = await askInThread(running);
  await running.killGateway();
  expect(await running.api("POST", `/v1/api/workstreams/${ws_id}/delete`)).toMatchObject({ status: 200 });
  await running.startGateway();
  await practice.waitFor(() => isArchived(running, thread));
  expect(practice.channelAsText(thread)).toContain(
    "This conversation was deleted. Mention me to begin a new one here.",
  );
  model.script([reply.text("A new beginning.")]);
  practice.admin.unarchive(thread);
  practice.as("Ada").say(thread, `<@${practice.bot_id}> hello again`);
  await practice.waitFor(() => practice.channelAsText(thread).includes("A new beginning."));
}, 120_000);
