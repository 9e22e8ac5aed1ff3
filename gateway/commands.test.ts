import { expect, test } from "vitest";
import { startBench, until, type Bench } from "./testing/bench.ts";

/** Ada in a thread of hers, with the commands registered. */
async function inThread(bench: Bench): Promise<{ thread: string; ws_id: string }> {
  bench.link("Ada");
  const { thread, ws_id } = await bench.begin("Ada", "go");
  await until(() => bench.practice.as("Ada").commands("general").length > 0);
  return { thread, ws_id };
}

test("/file hands out a file privately, and says what is wrong with others", async () => {
  await using bench = await startBench();
  const { thread } = await inThread(bench);
  bench.server.files.set("out/report.csv", "a,b\n1,2\n");
  bench.server.files.set("big.bin", "x".repeat(11 * 1024 * 1024));
  bench.server.files.set("empty", "");
  const ada = bench.practice.as("Ada");
  const sees = (text: string): Promise<unknown> =>
    bench.practice.waitFor(() => ada.channelAsText(thread).includes(text));
  await ada.slash(thread, "file", { path: "out/report.csv" });
  await sees("report.csv");
  expect(bench.practice.as("Ben").channelAsText(thread)).not.toContain("report.csv");
  await ada.slash(thread, "file", { path: "nothing" });
  await sees("There is no such file.");
  await ada.slash(thread, "file", { path: "big.bin" });
  await sees("Discord takes at most");
  await ada.slash(thread, "file", { path: "empty" });
  await sees("it is empty");
});

test("/model and /ask suggest the models that there are", async () => {
  await using bench = await startBench();
  const { thread } = await inThread(bench);
  const ada = bench.practice.as("Ada");
  expect(await ada.autocomplete(thread, "model", { model: "CLEV" }, "model")).toMatchObject({
    choices: [{ name: "clever: large", value: "clever" }],
  });
  expect(await ada.autocomplete("general", "ask", { message: "hi", model: "" }, "model")).toMatchObject({
    choices: [{ value: "default" }, { value: "clever" }],
  });
});

test("/doctor tells an admin what is missing here, and nobody else", async () => {
  await using bench = await startBench();
  const { thread } = await inThread(bench);
  bench.server.links.set(bench.practice.userId("Ben"), { user_id: "ben", scopes: "read,write" });
  const { practice } = bench;
  await practice.as("Ada").slash(thread, "doctor");
  await practice.waitFor(() => practice.as("Ada").channelAsText(thread).includes("Everything works."));
  await practice.as("Ben").slash("general", "doctor");
  await practice.waitFor(() => practice.as("Ben").channelAsText("general").includes("Only admins"));
  practice.admin.setPermissions("general", "@everyone", { deny: ["create_public_threads"] });
  await practice.as("Ada").slash(thread, "doctor");
  await practice.waitFor(() => practice.as("Ada").channelAsText(thread).includes("I lack Create Public Threads"));
  expect(practice.channelAsText(thread)).not.toContain("I lack");
});

test("a deleted thread ends its conversation, and the owner hears of it by DM, whoever spoke last (DREN-13)", async () => {
  await using bench = await startBench();
  const { thread } = await inThread(bench);
  await until(() => bench.server.routes.get(thread)?.last_inbound_id === thread);
  await bench.restart();
  bench.practice.admin.deleteChannel(thread);
  await bench.practice.waitFor(() => bench.practice.dmAsText("Ada").includes("thread was deleted"));
  await until(() => !bench.server.routes.has(thread));
  await bench.restart();
  bench.practice.as("Ada").say("general", `<@${bench.practice.bot_id}> and now?`);
  await bench.sent(2);
  expect(bench.practice.threads("general").map(({ name }) => name)).toEqual(["and now?"]);
});
