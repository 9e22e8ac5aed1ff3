import { createRequire } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import type { Answer, OpenModal } from "../../gateway/practice/index.ts";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

const EVERYTHING = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const CONFIG = `
[mcp.servers.everything]
command = "node"
args = ["${EVERYTHING}", "stdio"]
`;

function modal(answer: Answer): OpenModal {
  if (answer.outcome !== "modal") throw new Error(`It answered ${answer.outcome}.`);
  return answer;
}

test("a server's form is filled in over three parts by whoever may approve, and its answer goes to that server", async () => {
  const product = await startProduct({ config: CONFIG });
  onTestFinished(() => product.close());
  const { practice, model } = product;
  const ready = async (): Promise<unknown> => (await product.api("GET", "/health")).body["mcp_servers"];
  await expect.poll(ready, { timeout: 30_000 }).toMatchObject([{ state: "ready" }]);
  await expect.poll(ready, { timeout: 30_000 }).not.toMatchObject([{ tools: 13 }]);
  model.script([
    reply.toolCalls([{ name: "mcp__everything__trigger-elicitation-request", arguments: {} }]),
    reply.text("Thank you."),
  ]);
  const ada = practice.as("Ada");
  ada.say("general", `<@${practice.bot_id}> ask me`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  const card = (text: string) => () =>
    practice.messages(thread).find((one) => practice.messageAsText(one).includes(text));
  await ada.press(await practice.waitFor(card("[Approve]")), "Approve");
  const question = await practice.waitFor(card("asks you something"));
  expect(practice.messageAsText(question)).toContain("Please provide inputs for the following fields");
  expect(await practice.as("Ben").press(question, "Answer…")).toMatchObject({ outcome: "message" });
  /** The form behind the button of the private message that says this. */
  const goOn = async (text: string, button: string): Promise<OpenModal> => {
    const find = () => ada.sees(thread).findLast((one) => one.content.includes(text));
    return modal(await ada.press(await practice.waitFor(find), button));
  };
  const first = modal(await ada.press(question, "Answer…"));
  await ada.submit(first, { field_0: "Ada", field_1: ["true"], field_3: "nowhere" });
  const again = await goOn("String with email format: an e-mail address is asked for", "Fill it in again…");
  await ada.submit(again, { field_0: "Ada", field_1: ["true"], field_3: "ada@example.org" });
  const second = await goOn("Kept. Part 2 of 3 is next.", "Go on…");
  await ada.submit(second, { field_5: "1815-12-10", field_6: "7", field_8: ["2"], field_9: ["0", "1"] });
  const third = await goOn("Kept. Part 3 of 3 is next.", "Go on…");
  await ada.submit(third, {});
  await practice.waitFor(card("Answered by **Ada**"));
  await practice.waitFor(() => practice.channelAsText(thread).includes("Thank you."));
  const told = JSON.stringify(model.requests.at(-1)?.body);
  for (const line of ["Name: Ada", "Agreed to terms: true", "Email: ada@example.org", "Favorite Integer: 7"]) {
    expect(told).toContain(line);
  }
  expect(told).toContain("Joey");
  expect(await ada.press(question, "Answer…").catch((error: unknown) => String(error))).toContain("no button");
}, 120_000);
