import { expect, test } from "vitest";
import { readPage, type ReadPage } from "./read_page.ts";

interface Given {
  media_type?: string;
  charset?: string;
  question?: string;
  budget?: number;
  limit_ms?: number;
  signal?: AbortSignal;
}

function read(content: string | Uint8Array, given: Given = {}): Promise<ReadPage> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
  const { media_type = "text/html", charset = null, question = "?", budget = 50_000 } = given;
  const task = { bytes, media_type, charset, url: "https://site.test/", question, budget };
  return readPage(task, given.signal ?? new AbortController().signal, given.limit_ms);
}

async function textOf(content: string | Uint8Array, given: Given = {}): Promise<string> {
  const page = await read(content, given);
  return page.ok ? page.text : `refused: ${page.error}`;
}

test("a page in an older encoding is read as what it is (WEB-17)", async () => {
  const bytes = Uint8Array.of(0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea);
  expect(await textOf(bytes, { charset: "Shift_JIS" })).toBe("日本語");
});

test("other texts stay as they are, and bytes that only claim to be text are refused (WEB-18)", async () => {
  expect(await textOf('{"a": "<p>"}\n', { media_type: "application/json" })).toBe('{"a": "<p>"}');
  expect(await textOf(Uint8Array.of(0x89, 0x50, 0, 0, 1), { media_type: "text/plain" })).toMatch(/^refused: .*NUL/);
});

test("a long page keeps its beginning and what bears on the question, in order, with notes on the gaps", async () => {
  const filler = (name: string): string =>
    `<h2>${name}</h2>${"<p>Words about nothing that anybody asks for at all.</p>".repeat(400)}`;
  const html = `<h1>Manual</h1><p>Start here.</p>${filler("One")}<p>The warranty lasts 37 months.</p>${filler("Two")}${filler("Three")}`;
  const page = await read(html, { question: "How long are warranties?", budget: 5_000 });
  expect(page).toMatchObject({ ok: true });
  const text = page.ok ? page.text : "";
  expect(text.length).toBeLessThanOrEqual(5_000);
  expect(text).toMatch(/^# Manual\n\nStart here\./);
  expect(text).toMatch(/\[[\d,]+ characters left out here\.\] Under “One”:\n\n[^#]*warranty lasts 37 months/);
  expect(page.ok && page.characters).toBeGreaterThan(50_000);
});

test("languages without spaces and words in other forms are found too", async () => {
  const filler = "<p>これは関係のない文章です。</p>".repeat(2_000);
  const japanese = await textOf(`${filler}<p>保証期間は三年です。</p>${filler}`, {
    question: "保証期間は?",
    budget: 4_000,
  });
  expect(japanese).toContain("保証期間は三年です。");
  const english = "<p>Nothing of interest stands in this paragraph.</p>".repeat(2_000);
  const found = await textOf(`${english}<p>Résumés were priced at 12.</p>${english}`, {
    question: "resume pricing",
    budget: 4_000,
  });
  expect(found).toContain("priced at 12");
});

test("one endless line without spaces is cut to the budget as well", async () => {
  const text = await textOf("x".repeat(300_000), { media_type: "text/plain", budget: 3_000 });
  expect(text.length).toBeLessThanOrEqual(3_000);
  expect(text).toMatch(/^[x\n]+\n\n\[[\d,]+ characters left out here\.\]/);
});

test("deep and large pages are read while the server goes on with its work", async () => {
  let turns = 0;
  const heartbeat = setInterval(() => (turns += 1), 10);
  const deep = await textOf(`${"<div>".repeat(50_000)}the bottom`, { limit_ms: 60_000 });
  const large = await read("<div><h2>Part</h2><p>lorem ipsum <a href=/x>dolor</a></p></div>".repeat(16_000), {
    limit_ms: 60_000,
  });
  clearInterval(heartbeat);
  expect(deep).toBe("the bottom");
  expect(large).toMatchObject({ ok: true });
  expect(turns).toBeGreaterThan(20);
}, 120_000);

test("a page that takes too long is given up", async () => {
  const page = await read("<b>".repeat(300_000) + "</i>".repeat(300_000), { limit_ms: 300 });
  expect(page).toEqual({
    ok: false,
    error: "The page is built in a way that takes too long to read, so it was given up.",
  });
});

test("reading ends when the call is cancelled", async () => {
  const controller = new AbortController();
  const reading = read("<b>".repeat(300_000) + "</i>".repeat(300_000), { signal: controller.signal });
  controller.abort();
  await expect(reading).rejects.toThrow("aborted");
});
