import { expect, test } from "vitest";
import { isBlank, visible, visibleLine } from "./visible.ts";

test("what is not seen, or reorders what is seen, is written out (APPR-16, REQ-SAFE-010)", () => {
  expect(visible("rm \u202e/\u2066x\u200b y\r\u001b[8mz\u{e0041}\u3164\u007f\ud800")).toBe(
    "rm <U+202E>/<U+2066>x<U+200B> y␍␛[8mz<U+E0041><U+3164>␡\ufffd",
  );
});

test("what a person sees is left alone", () => {
  const text = 'git commit -m "a – b “c”"\n\tπ 日本語 👩‍👩‍👧 ❤️ é नि‍';
  expect(visible(text)).toBe(text);
});

test("a header stays on its line", () => {
  expect(visibleLine("a\nb")).toBe("a␊b");
});

test("a text of nothing but unseen characters is blank, one with anything to see is not (NTFY-17)", () => {
  for (const text of ["", " \n\t", "\u200b\u200d", "\u2800\ufe0f", "\u3164"]) expect(isBlank(text)).toBe(true);
  for (const text of ["a", "❤️", "नि‍", "\u200b."]) expect(isBlank(text)).toBe(false);
});
