import { expect, onTestFinished, test } from "vitest";
import { OAuthMcpServer } from "../support/mcp/oauth_server.ts";
import { reply } from "../support/model_server/reply.ts";
import { startProduct } from "../support/product.ts";

/** What a person's browser does: consents where it is sent, comes back to our page, and presses its button. */
async function browse(url: string): Promise<{ asked: string; told: string; again: string }> {
  const consented = await fetch(url, { redirect: "manual" });
  const back = consented.headers.get("location") ?? "";
  const page = await (await fetch(back)).text();
  const action = /<form method="post" action="([^"]+)">/.exec(page)?.[1] ?? "";
  const fields = [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = "", value = ""]): [string, string] => [name, value],
  );
  const send = async (): Promise<string> => {
    const body = new URLSearchParams(fields);
    return (await fetch(new URL(action, back), { method: "POST", body })).text();
  };
  return { asked: page, told: await send(), again: await send() };
}

test("a person signs in to a server from Discord, by command or where a call waits for it", async () => {
  const oauth = await new OAuthMcpServer().listen();
  const product = await startProduct({ config: `[mcp.servers.o]\nurl = "${oauth.url}"\n` });
  onTestFinished(async () => {
    await Promise.all([product.close(), oauth.close()]);
  });
  const { practice, model } = product;
  const ada = practice.as("Ada");
  const states = async (): Promise<unknown> => (await product.api("GET", "/health")).body["mcp_servers"];
  await expect.poll(states, { timeout: 30_000 }).toMatchObject([{ server: "o", state: "sign_in_required" }]);
  /** The address on the newest private message with one. */
  const address = (place: string): Promise<string> =>
    practice.waitFor(() =>
      ada
        .sees(place)
        .map(({ components }) => /"url":"([^"]+authorize[^"]+)"/.exec(JSON.stringify(components))?.[1])
        .findLast((url) => url !== undefined && !used.has(url)),
    );
  const used = new Set<string>();

  oauth.account = "ada@example";
  await ada.slash("general", "mcp connect", { server: "o" });
  const first = await address("general");
  used.add(first);
  expect(
    practice
      .as("Ben")
      .sees("general")
      .map(({ components }) => JSON.stringify(components))
      .join(""),
  ).not.toContain(first);
  const pages = await browse(first);
  expect(pages.asked).toContain("The turnstone account “ada” will use what you just allowed.");
  expect(pages.told).toContain("o is connected. You can close this page.");
  expect(pages.again).toContain("This sign-in has run out or was finished before");
  expect(await states()).toMatchObject([{ state: "ready" }]);

  const approve = async (thread: string): Promise<void> => {
    const asks = () => practice.messages(thread).find((one) => practice.messageAsText(one).includes("[Approve]"));
    const card = await practice.waitFor(asks);
    expect(practice.messageAsText(card)).toContain("runs with the account of this conversation's owner");
    await ada.press(card, "Approve");
  };
  const told = (): string => JSON.stringify(model.requests.at(-1)?.body);
  model.script([reply.toolCalls([{ name: "mcp__o__whoami", arguments: {} }]), reply.text("You are known.")]);
  ada.say("general", `<@${practice.bot_id}> who am I`);
  const thread = await practice.waitFor(() => practice.threads("general")[0]?.id);
  await approve(thread);
  await practice.waitFor(() => practice.channelAsText(thread).includes("You are known."));
  expect(told()).toContain("ada@example");

  oauth.revokeAll();
  oauth.account = "ada@elsewhere";
  model.script([reply.toolCalls([{ name: "mcp__o__whoami", arguments: {} }]), reply.text("Known again.")]);
  ada.say(thread, "and now?");
  await approve(thread);
  const asks = () =>
    practice.messages(thread).find((one) => practice.messageAsText(one).includes("needs you to sign in"));
  await ada.press(await practice.waitFor(asks), "Connect…");
  await browse(await address(thread));
  await practice.waitFor(() => practice.channelAsText(thread).includes("Known again."));
  expect(told()).toContain("ada@elsewhere");
  expect(practice.channelAsText(thread)).toContain("Signed in by **Ada**");

  expect(product.turnstone("admin", "audit", "--json")).toMatchObject({
    entries: expect.arrayContaining([expect.objectContaining({ action: "mcp.signed_in", target: "o" })]),
  });
  await ada.slash("general", "mcp disconnect", { server: "o" });
  await practice.waitFor(() => ada.channelAsText("general").includes("is forgotten here"));
  expect(await states()).toMatchObject([{ state: "sign_in_required" }]);
  const list = await product.api("GET", "/v1/api/workstreams");
  const ws_id = (list.body["workstreams"] as { ws_id: string }[])[0]?.ws_id ?? "";
  const typed = await product.api("POST", "/v1/api/command", { ws_id, command: "/mcp connect o" });
  const { told: again } = await browse(/http\S+authorize\S+/.exec(String(typed.body["output"]))?.[0] ?? "");
  expect(again).toContain("o is connected.");
  const history = await product.api("GET", `/v1/api/workstreams/${ws_id}/history`);
  expect(JSON.stringify(history.body)).not.toContain("authorize?");
  const out = await product.api("POST", "/v1/api/command", { ws_id, command: "/mcp disconnect o" });
  expect(out.body["output"]).toContain("is forgotten here");
  expect(product.log()).not.toMatch(/(?:access|refresh)-[0-9a-f]{8}/);
}, 120_000);

test("whoever comes back without a sign-in learns so, and sees nothing of what they bring", async () => {
  const product = await startProduct({ server_only: true });
  onTestFinished(() => product.close());
  const at = `${product.server_url}/v1/api/mcp/sign_in_callback`;
  const script = encodeURIComponent("<script>alert(1)</script>");
  const answer = await fetch(`${at}?state=${script}&code=${script}&error=${script}`);
  expect(answer.status).toBe(400);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  const page = await answer.text();
  expect(page).toContain("This sign-in has run out or was finished before");
  expect(page).not.toContain("alert(1)");
  const posted = await fetch(at, { method: "POST", body: new URLSearchParams({ state: "x".repeat(500) }) });
  expect(posted.status).toBe(400);
}, 60_000);
