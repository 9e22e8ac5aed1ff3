import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPath, openBrowser, takePicture } from "../browser/browser.ts";
import { reply, type Reply } from "../support/model_server/reply.ts";
import { startProduct, type Product } from "../support/product.ts";
import { respond, startWebServer, type WebServer } from "../support/web_server.ts";

let product: Product;
let web: WebServer;
let browser: Browser | null = null;

beforeAll(async () => {
  web = await startWebServer("private", (request, response) => {
    if (request.url === "/search") {
      const results = [{ title: "Tides", url: "https://tides.test/", content: "High water at noon.", score: 1 }];
      respond(response, "application/json", JSON.stringify({ query: "tides", answer: null, results }));
    } else respond(response, "text/html", "<title>Harbour</title><p>The harbour opens at seven.</p>");
  });
  product = await startProduct({
    config: `[tools]\nallow_private = ["127.0.0.1:${web.port}"]\n`,
    env: { TURNSTONE_TAVILY_URL: `http://127.0.0.1:${web.port}`, TAVILY_API_KEY: "tvly-test" },
  });
  writeFileSync(join(product.workspace, "notes.txt"), "the first line\nthe second line\n");
}, 120_000);

afterAll(async () => {
  await product?.close();
  await web?.close();
  await browser?.close();
});

/** Keeps a picture of a conversation as Ada sees it, where somebody wants to look. */
async function look(thread: string, name: string): Promise<void> {
  const path = browserPath();
  if (process.env["TURNSTONE_TEST_SCREENS"] === undefined || path === null) return;
  browser ??= await openBrowser(path);
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
  await page.goto(`${product.practice.url}#${thread}`);
  await page.locator("#messages").getByText("turnstone").first().waitFor();
  await takePicture(page, name);
  await page.close();
}

const READ = { name: "read_file", arguments: { path: "notes.txt" } };
const EDIT = { path: "notes.txt", old_string: "the second line", new_string: "the last line" };

/** What a tool is asked, and what Ada then sees. */
interface Play {
  name: string;
  arguments: Record<string, unknown>;
  /** Stands on the card that she approves; null: nobody is asked. */
  card: string | null;
  /** Stands in the thread at last. */
  seen: string;
  /** Reaches the model as the result; what is seen where absent. */
  result?: string;
  /** A call that must come before. */
  first?: { name: string; arguments: Record<string, unknown> };
  /** What the call itself gets from the model. */
  inner?: readonly Reply[];
}

const PLAYS: readonly Play[] = [
  {
    name: "bash",
    arguments: { command: "echo tide $((6 * 7))" },
    card: "echo tide $((6 * 7))",
    seen: "bash: echo tide",
    result: "tide 42",
  },
  { name: "read_file", arguments: { path: "notes.txt" }, card: null, seen: "notes.txt", result: "the second line" },
  {
    name: "edit_file",
    arguments: EDIT,
    first: READ,
    card: "+the last line",
    seen: "edit_file: notes.txt (line 2)",
    result: "replaced 1 occurrence at line 2",
  },
  {
    name: "write_file",
    arguments: { path: "new.txt", content: "all new\n" },
    card: "all new",
    seen: "write_file: new.txt",
    result: "Created new.txt",
  },
  {
    name: "search",
    arguments: { query: "first" },
    card: null,
    seen: "search: first",
    result: "notes.txt:1:the first line",
  },
  {
    name: "math",
    arguments: { code: "factorint(360)" },
    card: "factorint(360)",
    seen: "math: 1 line of Python",
    result: "{2: 3, 3: 2, 5: 1}",
  },
  { name: "man", arguments: { page: "printf" }, card: null, seen: "man: printf", result: "NAME" },
  {
    name: "web_fetch",
    arguments: { url: "HARBOUR", question: "When does it open?" },
    card: "When does it open?",
    seen: "web_fetch: http",
    result: "At seven.",
    inner: [reply.text("At seven.")],
  },
  { name: "web_search", arguments: { query: "tides" }, card: "tides", seen: "tides", result: "High water at noon." },
  {
    name: "task",
    arguments: { prompt: "Count the boats." },
    card: "Count the boats.",
    seen: "task: Count the boats.",
    result: "Three.",
    inner: [reply.text("Three.")],
  },
  {
    name: "plan",
    arguments: { prompt: "Move the pier." },
    card: "Move the pier.",
    seen: "1. Buy rope.",
    inner: [reply.text("1. Buy rope.")],
  },
  {
    name: "remember",
    arguments: { key: "Favourite Boat", value: "the Gull" },
    card: null,
    seen: "remember: favourite_boat",
    result: "Saved",
  },
  { name: "recall", arguments: { query: "boat" }, card: null, seen: "recall: boat", result: "the Gull" },
  {
    name: "forget",
    arguments: { key: "favourite_boat" },
    card: null,
    seen: "forget: favourite_boat",
    result: "Forgot",
  },
  {
    name: "notify",
    arguments: { username: "ada", message: "High water." },
    card: null,
    seen: "notify → @ada",
    result: "sent",
  },
];

/** The web's port is known only once it is there. */
function urlsOf({ arguments: args }: Play): Record<string, unknown> {
  return args["url"] === "HARBOUR" ? { ...args, url: `http://127.0.0.1:${web.port}/` } : args;
}

test.each(PLAYS)(
  "$name is seen at work, and asks where it must",
  async (play) => {
    const { practice, model } = product;
    const asked_before = model.requests.length;
    const ada = practice.as("Ada");
    const ending = `That was ${play.name}.`;
    // The last words wait until the step has been seen: quick ones would leave no more than the answer.
    const last = reply.gate(reply.text(ending));
    model.script([
      ...(play.first === undefined ? [] : [reply.toolCalls([play.first])]),
      reply.toolCalls([{ name: play.name, arguments: urlsOf(play) }]),
      ...(play.inner ?? []),
      last.reply,
    ]);
    const said = ada.say("general", `<@${practice.bot_id}> play ${play.name}`);
    const text = (): string => practice.channelAsText(said.id);
    const thread = (): boolean => practice.threads("general").some(({ id }) => id === said.id);
    await practice.waitFor(thread, { timeout_ms: 30_000 });
    if (play.card !== null) {
      const card = await practice.waitFor(
        () => practice.messages(said.id).find((message) => practice.messageAsText(message).includes("[Approve]")),
        { timeout_ms: 30_000 },
      );
      expect(practice.messageAsText(card)).toContain(play.card);
      await ada.press(card, "Approve");
    }
    if (play.name === "plan") {
      const review = await practice.waitFor(
        () => practice.messages(said.id).find((message) => practice.messageAsText(message).includes("[Accept]")),
        { timeout_ms: 30_000 },
      );
      await ada.press(review, "Accept");
    }
    await practice.waitFor(() => text().includes(play.seen), { timeout_ms: 30_000 });
    await look(said.id, `${play.name}-at-work`);
    last.open();
    await practice.waitFor(() => text().includes(ending), { timeout_ms: 30_000 });
    const told = model.requests
      .slice(asked_before)
      .map(({ body }) => JSON.stringify(body["messages"]))
      .at(-1);
    expect(told).toContain(play.result ?? play.seen);
    await look(said.id, play.name);
  },
  120_000,
);

test("the notification is among Ada's direct messages", async () => {
  await product.practice.waitFor(() => product.practice.dmAsText("Ada").includes("High water."));
});
