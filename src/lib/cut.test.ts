import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Collector, cut } from "./cut.ts";

const HINT = "Ask for less.";

test("a text within the limit is left alone", () => {
  expect(cut("abc", 3, HINT)).toBe("abc");
});

test("a longer text keeps its head and its tail and says how much is missing (REQ-TOOL-031)", () => {
  const text = `BEGIN${"x".repeat(10_000)}END`;
  const short = cut(text, 1000, HINT);
  expect(short).toMatch(/^BEGINx+\n\n\[9,\d{3} of 10,008 characters left out here\. Ask for less\.\]\n\nx+END$/);
  const missing = Number(/\[([\d,]+) of/.exec(short)?.[1]?.replaceAll(",", ""));
  expect(short.replace(/\n\n\[.*\]\n\n/, "").length + missing).toBe(text.length);
});

const anyText = fc.array(fc.constantFrom("a", "\n", "é", "😀", "👩‍👩‍👧")).map((parts) => parts.join(""));

test("no cut is longer than its limit or splits a surrogate pair", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 300 }), (part, limit) => {
      const text = part.repeat(20);
      const short = cut(text, limit, HINT);
      expect(short.length).toBeLessThanOrEqual(Math.max(limit, 0));
      expect(short.isWellFormed()).toBe(true);
    }),
  );
});

test("a collector gives what cut would have given, however the text came", () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 40 }), fc.integer({ min: 0, max: 200 }), (pieces, limit) => {
      const collector = new Collector(limit);
      for (const piece of pieces) collector.push(piece);
      expect(collector.text(HINT)).toBe(cut(pieces.join(""), limit, HINT));
    }),
  );
});

test("a flood is collected in bounded memory (BASH-09)", () => {
  const collector = new Collector(10_000);
  const piece = "y\n".repeat(32_768);
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 5000; count += 1) collector.push(piece);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  expect(collector.length).toBe(5000 * 65_536);
  expect(collector.text(HINT)).toContain("of 327,680,000 characters left out");
});
