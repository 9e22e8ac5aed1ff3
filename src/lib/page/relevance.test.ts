import * as fc from "fast-check";
import { expect, test } from "vitest";
import { relevantPart } from "./relevance.ts";

test("a text that fits stays as it is", () => {
  expect(relevantPart("one\n\ntwo", "what?", 8)).toBe("one\n\ntwo");
});

test("rare words of the question count more than common ones, wherever they stand", () => {
  const common = Array.from(
    { length: 300 },
    (_, index) => `The state of the release number ${index}. ${"word ".repeat(30)}`,
  );
  const text = [...common.slice(0, 200), "The zebra was the mascot.", ...common.slice(200)].join("\n\n");
  const part = relevantPart(text, "What is the state of the zebra release?", 4_000);
  expect(part).toContain("The zebra was the mascot.");
  expect(part.startsWith("The state of the release number 0.")).toBe(true);
});

test("without a word in common the beginning is kept", () => {
  const paragraphs = Array.from({ length: 500 }, (_, index) => `Paragraph ${index} ${"word ".repeat(20)}`.trim());
  const part = relevantPart(paragraphs.join("\n\n"), "xyzzy?", 5_000);
  expect(part).toContain("Paragraph 10 ");
  expect(part).not.toContain("Paragraph 490 ");
  expect(part).toMatch(/\[[\d,]+ characters left out here\.\]$/);
});

test("the budget is kept, and so is the order of what is kept", () => {
  const word = fc.constantFrom("alpha", "beta", "gamma", "日本語", "x".repeat(1_500), "a b\nc");
  const paragraph = fc.tuple(fc.constantFrom("", "# ", "### "), fc.array(word, { minLength: 1, maxLength: 120 }));
  fc.assert(
    fc.property(
      fc.array(paragraph, { maxLength: 60 }),
      fc.integer({ min: 2_000, max: 9_000 }),
      (paragraphs, budget) => {
        const text = paragraphs.map(([mark, words], index) => `${mark}p${index} ${words.join(" ")}`).join("\n\n");
        const part = relevantPart(text, "beta 日本語", budget);
        expect(part.length).toBeLessThanOrEqual(budget);
        const numbers = [...part.matchAll(/^(?:#+ )?p(\d+) /gm)].map((match) => Number(match[1]));
        expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
      },
    ),
    { numRuns: 200 },
  );
});
