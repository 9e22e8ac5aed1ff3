import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitParts, splitText } from "./split.ts";

/** Counts fences as CommonMark reads them, independently of the splitter. */
function openFence(text: string): string | null {
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const match = /^(\s*(?:>>> )?(?:> ?)*\s*)(`{3,10}(?!`)|~{3,10}(?!~))([^\n]*)$/.exec(line);
    if (match === null || line.length > 50) continue;
    const [, prefix = "", marker = "", rest = ""] = match;
    if (open === null && prefix.replace(">>> ", "").length > 6) continue;
    if (open === null) {
      if (!(marker.startsWith("`") && rest.includes("`"))) open = marker;
    } else if (marker[0] === open[0] && marker.length >= open.length && rest.trim() === "") open = null;
  }
  return open;
}

const pieces = fc.constantFrom(
  "word ",
  "\n",
  "\n\n",
  "```",
  "```python\n",
  "````\n",
  "~~~\n",
  "\n```\n",
  "> ",
  ">>> ",
  "- item\n",
  "1. one\n",
  "👩‍👩‍👧‍👦",
  "é",
  "\u200b",
  "https://example.org/a/b?c=d",
  "[a link](https://example.org/x)",
  "    indented\n",
  "`",
  "x".repeat(90),
  "\t",
  "漢字",
  "\ud83d",
);
const markdown = fc.oneof(
  fc.array(pieces, { maxLength: 120 }).map((all) => all.join("")),
  fc.string({ unit: "binary", maxLength: 1500 }),
);

test("any text gives parts that fit, and together they are the text (DREN-02, DREN-05, REQ-DISCORD-022)", () => {
  fc.assert(
    fc.property(markdown, fc.integer({ min: 100, max: 400 }), (text, limit) => {
      const { lead, parts } = splitParts(text, limit);
      expect(lead + parts.map((part) => part.body + part.gap).join("")).toBe(text);
      for (const part of parts) {
        const whole = part.opened + part.body + part.closed;
        expect(whole.length).toBeLessThanOrEqual(limit);
        expect(whole.trim()).not.toBe("");
      }
    }),
    { numRuns: 2000 },
  );
});

test("no part but the last leaves a code block open, whatever the fence (DREN-04, REQ-DISCORD-023)", () => {
  fc.assert(
    fc.property(markdown, fc.integer({ min: 120, max: 400 }), (text, limit) => {
      const parts = splitText(text, limit);
      for (const part of parts.slice(0, -1)) expect(openFence(part)).toBeNull();
    }),
    // A backtick fence may name a language of tildes.
    { numRuns: 2000, examples: [[`\`\`\`~~~\n${"word ".repeat(40)}`, 120]] },
  );
});

test("no surrogate pair is cut (DREN-05)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 600 }), fc.integer({ min: 100, max: 130 }), (text, limit) => {
      for (const part of splitText(text, limit)) expect(part.isWellFormed()).toBe(true);
    }),
  );
  const family = "👩‍👩‍👧‍👦";
  const parts = splitText(`${"a".repeat(1999)}${family}`);
  expect(parts).toEqual(["a".repeat(1999), family]);
});

test("a fence that begins near the limit does not push a part over it (DREN-02)", () => {
  const text = `${"a".repeat(1980)}\n\`\`\`\n${"code\n".repeat(100)}\`\`\``;
  const parts = splitText(text);
  expect(parts.every((part) => part.length <= 2000)).toBe(true);
  expect(parts[0]).toBe("a".repeat(1980));
});

test("language, indentation and blank lines survive the cut of a code block (DREN-03)", () => {
  const code = Array.from({ length: 60 }, (_, index) => (index % 7 === 0 ? "" : `    line_${index} = ${index}`)).join(
    "\n",
  );
  const parts = splitText(`Look:\n\`\`\`python\n${code}\n\`\`\`\nDone.`, 300);
  expect(parts.length).toBeGreaterThan(3);
  for (const part of parts.slice(1)) expect(part.startsWith("```python\n")).toBe(true);
  const restored = parts
    .map((part) => part.replace(/^(Look:\n)?```python\n/, "").replace(/\n```(\nDone\.)?$/, ""))
    .join("\n");
  expect(restored).toBe(code);
});

test("a line in a code block that is longer than a message ends (upstream never did)", () => {
  const parts = splitText(`\`\`\`\n${"x".repeat(9000)}\n\`\`\``);
  expect(parts.length).toBe(5);
  expect(parts.every((part) => part.startsWith("```\n") && part.endsWith("\n```"))).toBe(true);
});

test("cuts between paragraphs first, then lines, then words, and never in a link", () => {
  const paragraph = "word ".repeat(30).trim();
  expect(splitText(`${paragraph}\n\n${paragraph}`, 200)).toEqual([paragraph, paragraph]);
  const link = `https://example.org/${"p".repeat(80)}`;
  const linked = splitText(`${"word ".repeat(25)}${link} ${"word ".repeat(25)}${link}`, 150);
  expect(linked.filter((part) => part.includes("https://")).every((part) => part.includes(link))).toBe(true);
});

test("a quotation that is cut stays a quotation", () => {
  for (const part of splitText(`> ${"quoted words ".repeat(40)}`, 120)) expect(part.startsWith("> ")).toBe(true);
  for (const part of splitText(`>>> ${"quoted words\n".repeat(40)}`, 120)) expect(part.startsWith(">>> ")).toBe(true);
});

test("blank text gives nothing to send (DREN-06)", () => {
  expect(splitText("")).toEqual([]);
  expect(splitText(" \n\u200b\n")).toEqual([]);
});
