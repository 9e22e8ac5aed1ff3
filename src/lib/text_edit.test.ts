import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findMatches, lineUpToSpace, nearestMatch, replacementFor, withoutGutter } from "./text_edit.ts";

const words = fc.array(fc.constantFrom("a", "b", "\n", "\r\n", "\r"), { maxLength: 30 }).map((parts) => parts.join(""));

test("every match is found, overlapping ones too, and reads as what was wanted (FILE-02, FILE-21)", () => {
  const wanted = fc
    .array(fc.constantFrom("a", "b", "\n"), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(words, wanted, (text, old) => {
      const plain = text.replaceAll("\r\n", "\n");
      const starts = Array.from(plain, (_, index) => index).filter((index) => plain.startsWith(old, index));
      const search = findMatches(text, old);
      const matches = search.status === "found" ? search.matches : [];
      expect(matches).toHaveLength(starts.length);
      for (const { start, end, line } of matches) {
        expect(text.slice(start, end).replaceAll("\r\n", "\n")).toBe(old);
        expect(text.slice(0, start).split("\n")).toHaveLength(line);
      }
    }),
  );
});

test("a replacement reads as asked, whatever the line breaks around are (FILE-02)", () => {
  const plain_words = words.map((text) => text.replaceAll(/\r(?!\n)/g, ""));
  fc.assert(
    fc.property(words, plain_words, words, (matched, replacement, around) => {
      const made = replacementFor(matched, replacement, around + matched);
      expect(made.replaceAll("\r\n", "\n")).toBe(replacement.replaceAll("\r\n", "\n"));
    }),
  );
});

test("of two lines as near the earlier is taken (FILE-19)", () => {
  const matches = [10, 14, 30].map((line) => ({ start: line, end: line + 1, line }));
  expect(nearestMatch(matches, 12)?.line).toBe(10);
  expect(nearestMatch(matches, 13)?.line).toBe(14);
  expect(nearestMatch(matches, 1000)?.line).toBe(30);
  expect(nearestMatch([], 1)).toBeUndefined();
});

test("a match up to white space has a line", () => {
  expect(lineUpToSpace("x\n  f( a )\n", "f(a)")).toBe(2);
  expect(lineUpToSpace("x\n", "y")).toBeNull();
  expect(lineUpToSpace("x\n", " \n")).toBeNull();
});

test("line numbers are taken off only where the first line has one (FILE-35)", () => {
  expect(withoutGutter("    12\tfoo\n    13\t\tbar\n")).toBe("foo\n\tbar\n");
  expect(withoutGutter("foo\n    13\tbar")).toBeNull();
});
