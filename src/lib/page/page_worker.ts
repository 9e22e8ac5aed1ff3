import { parentPort } from "node:worker_threads";
import { decodePage } from "./decode.ts";
import { htmlToText } from "./html_text.ts";
import type { PageTask, ReadPage } from "./read_page.ts";
import { relevantPart } from "./relevance.ts";

/** As far into a document as files are looked into to tell text from other bytes. */
const PROBE_CHARACTERS = 8192;

/** The thread that makes text of pages, one by one: all that takes long with a hostile one happens here. */
function read(task: PageTask): ReadPage {
  const decoded = decodePage(task.bytes, task.charset);
  if (decoded.slice(0, PROBE_CHARACTERS).includes("\0")) {
    return { ok: false, error: "The server says that this is text, but it holds NUL bytes, so it is not read." };
  }
  const is_html = task.media_type === "text/html" || task.media_type === "application/xhtml+xml";
  const page = is_html ? htmlToText(decoded, task.url) : { title: "", description: "", text: decoded.trim() };
  const { title, description } = page;
  const characters = page.text.length;
  const text = relevantPart(page.text, task.question, task.budget);
  return { ok: true, title, description, text, characters };
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.on("message", (task: PageTask) => parentPort?.postMessage(read(task)));
