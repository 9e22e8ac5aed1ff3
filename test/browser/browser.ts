import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";

/** Where Debian, Ubuntu and Google's own package put the browser. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Enough for every part of the page that can have the focus, with a long conversation open. */
const TABS_MAX = 120;

/** The browser of this machine; null where there is none, since none is downloaded. */
export function browserPath(): string | null {
  return PLACES.find((place) => existsSync(place)) ?? null;
}

/** A browser without a window. */
export async function openBrowser(path: string): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  // Chromium refuses to shut its pages in when root runs it, as in a container.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: path, args });
}

/** Goes on with the Tab key until the focus is on this element, as somebody without a mouse would. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    await page.keyboard.press("Tab");
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
  }
  throw new Error(`The Tab key does not lead to ${target.toString()}.`);
}

/** Whether a finger or mouse that goes to the middle of this element reaches it and nothing that lies above it. */
export async function canBeReached(target: Locator): Promise<boolean> {
  await target.scrollIntoViewIfNeeded();
  return target.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const hit = element.ownerDocument.elementFromPoint(x + width / 2, y + height / 2);
    const inside = x >= 0 && x + width <= element.ownerDocument.documentElement.clientWidth;
    return inside && hit !== null && element.contains(hit);
  });
}

/** How many pixels of the page or its conversation lie beyond the window's right edge. */
export async function sidewaysOverflow(page: Page): Promise<number> {
  const boxes = [page.locator("html"), page.locator("body"), page.locator("#messages")];
  const beyond = await Promise.all(boxes.map((box) => box.evaluate((it) => it.scrollWidth - it.clientWidth)));
  return Math.max(...beyond);
}

/** Keeps a picture in the folder that `TURNSTONE_TEST_SCREENS` names, for people who want to look. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["TURNSTONE_TEST_SCREENS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
