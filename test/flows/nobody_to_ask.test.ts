import { expect, onTestFinished, test } from "vitest";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

test("where neither the thread nor a DM can ask, the call is not run, the agent learns why, and the turn ends", async () => {
  const product = await startProduct();
  onTestFinished(() => product.close());
  const { practice, model } = product;
  // Ben may not approve, so nobody can say no in his name.
  const ben = practice.as("Ben");
  model.script([reply.text("Hello.")]);
  ben.say("general", `<@${practice.bot_id}> hello`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  await practice.waitFor(() => practice.channelAsText(thread).includes("Hello."));
  const forbidden = { kind: "status", status: 403, body: { code: 50013, message: "Missing Permissions" } } as const;
  practice.faults.onRequest({ method: "POST", path: `/channels/${thread}/messages` }, forbidden);
  practice.faults.closeDms("Ben", true);
  model.script([
    reply.toolCalls([{ name: "bash", arguments: { command: "touch ran" } }]),
    reply.text("I could not ask."),
  ]);
  ben.say(thread, "run it");
  const told = await practice.waitFor(() =>
    model.requests.find(({ body }) => JSON.stringify(body).includes("touch ran")),
  );
  expect(JSON.stringify(told.body)).toContain("Nobody who may approve this call could be asked. It was not run.");
  const list = await product.api("GET", "/v1/api/workstreams", undefined, product.token_of_ben);
  const [workstream] = list.body["workstreams"] as { ws_id: string }[];
  const history = `/v1/api/workstreams/${workstream?.ws_id}/history`;
  await expect
    .poll(async () => JSON.stringify((await product.api("GET", history, undefined, product.token_of_ben)).body))
    .toContain("I could not ask.");
  expect(product.turnstone("admin", "audit", "--json")).toMatchObject({
    entries: expect.arrayContaining([expect.objectContaining({ action: "approval.decided", user_id: null })]),
  });
}, 120_000);
