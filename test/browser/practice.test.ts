import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTurnstone } from "../../src/cli/testing/run_turnstone.ts";
import type { Started } from "../../src/cli/testing/run_turnstone.ts";
import { freePort } from "../support/product.ts";
import { browserPath, canBeReached, openBrowser, sidewaysOverflow, tabTo, takePicture } from "./browser.ts";

/** How long a newcomer is asked for at most, from the first look at the page to the result. */
const PATIENCE_MS = 120_000;

const BROWSER = browserPath();
const NO_BROWSER = "no Chromium at /usr/bin/chromium";

let home = "";
let url = "";
let turnstone: Started | null = null;
let browser: Browser | null = null;
let page: Page;
const broken: string[] = [];

/** The whole product as `npm start` brings it up, once for all visitors. */
beforeAll(async () => {
  if (BROWSER === null) return;
  home = mkdtempSync(join(tmpdir(), "turnstone-browser-"));
  const [server, gateway, practice] = [await freePort(), await freePort(), await freePort()];
  const env = {
    HOME: home,
    TURNSTONE_PORT: String(server),
    TURNSTONE_CHANNEL_PORT: String(gateway),
    TURNSTONE_PRACTICE_PORT: String(practice),
    // Whatever model runs on this machine is not to be asked.
    TURNSTONE_PROVIDER: "demo",
  };
  turnstone = startTurnstone(["start"], { env });
  await turnstone.printed(/turnstone is ready/);
  url = `http://127.0.0.1:${practice}/`;
  browser = await openBrowser(BROWSER);
}, PATIENCE_MS);

afterAll(async () => {
  await browser?.close();
  await turnstone?.stop();
  if (home !== "") rmSync(home, { recursive: true, force: true });
});

beforeEach((context) => {
  context.skip(BROWSER === null, NO_BROWSER);
  broken.length = 0;
});

afterEach(async () => {
  await page?.context().close();
  if (broken.length > 0) throw new Error(`The page's own scripts complained: ${broken.join("; ")}`);
});

/** Opens the page; what its scripts trip over is kept in `broken`. */
async function visit(options: BrowserContextOptions): Promise<void> {
  if (browser === null) throw new Error("There is no browser.");
  const context = await browser.newContext({ locale: "en-GB", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  page = await context.newPage();
  page.on("pageerror", (error) => broken.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") broken.push(message.text());
  });
  await page.goto(url);
  await messageBox().waitFor();
}

function messageBox(): Locator {
  return page.getByRole("textbox", { name: "Message" });
}

function button(name: string): Locator {
  return page.getByRole("button", { name, exact: true });
}

/** The thread that opened on the newest message with this text. */
function threadOf(text: string): Locator {
  return page.locator(".message", { hasText: text }).last().locator(".thread-chip");
}

test(
  "a visitor mentions the bot, asks for the files, approves and reads the result (REQ-SERVER-037)",
  async () => {
    await visit({ viewport: { width: 1180, height: 820 } });
    await messageBox().fill("@turnstone list the files here");
    await messageBox().press("Enter");
    await threadOf("list the files here").click();
    await button("Approve").waitFor();
    await takePicture(page, "card");
    expect(await page.getByRole("log").innerText()).toContain("ls -la");
    await button("Approve").click();
    await page.getByText("bash answered").waitFor();
    await page.getByText(/Approved by Ada/).waitFor();
    expect(await page.getByRole("log").innerText()).toMatch(/total \d+/);
    expect(await button("Approve").count()).toBe(0);
    await takePicture(page, "answer");
  },
  PATIENCE_MS,
);

test(
  "on a phone nothing lies beyond the edge and every button can be pressed (REQ-SERVER-038)",
  async () => {
    await visit({ viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    await button("Channels and people").tap();
    await page.getByRole("radio", { name: "Ben" }).tap();
    await messageBox().fill("@turnstone which files are there, with a long name for the thread that will not fit?");
    await button("Send").tap();
    await threadOf("which files are there").tap();
    for (const name of ["Approve", "Deny", "Deny with reason…", "Always…", "Stop", "Send", "Channels and people"]) {
      await button(name).waitFor();
      expect(await canBeReached(button(name)), name).toBe(true);
    }
    expect(await sidewaysOverflow(page)).toBe(0);
    await takePicture(page, "phone");
    await button("Stop").tap();
    await button("Stop").waitFor({ state: "detached" });
    await button("Approve").waitFor({ state: "detached" });
    expect(await sidewaysOverflow(page)).toBe(0);
    await takePicture(page, "phone-stopped");
  },
  PATIENCE_MS,
);

test(
  "without a mouse the same can be done (REQ-SERVER-039)",
  async () => {
    await visit({ viewport: { width: 1180, height: 820 } });
    await tabTo(page, messageBox());
    await page.keyboard.type("@turn");
    await page.getByRole("option", { name: /@turnstone/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.type("write notes.txt: kept by keyboard");
    await page.keyboard.press("Enter");
    await threadOf("kept by keyboard").waitFor();
    await tabTo(page, threadOf("kept by keyboard"));
    await page.keyboard.press("Enter");
    await button("Approve").waitFor();
    await tabTo(page, button("Approve"));
    await takePicture(page, "keyboard");
    await page.keyboard.press("Enter");
    await page.getByText(/write_file (answered|is done)/).waitFor();
    expect(await page.getByRole("log").innerText()).toContain("Approved by Ada");
    await takePicture(page, "keyboard-done");
  },
  PATIENCE_MS,
);
