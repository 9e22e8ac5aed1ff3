import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";
import { createStreamRedactors } from "./redact_stream.ts";

const SECRETS = ["correct-horse-battery", "correct-horse-battery-staple"];
const redactors = createStreamRedactors(createRedactor(SECRETS), SECRETS);

function streamed(pieces: readonly string[]): string[] {
  const redactor = redactors();
  return [...pieces.map((piece) => redactor.push(piece)), redactor.end()];
}

test("a secret that comes in pieces is taken out, however it is cut (SECR-03, REQ-SAFE-002)", () => {
  const token = `ghp_${"a1".repeat(18)}`;
  const text = `one correct-horse-battery two correct-horse-battery-staple three ${token} four`;
  for (const size of [1, 2, 3, 5, 8, 13, 100]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(streamed(pieces).join("")).toBe("one [redacted] two [redacted] three [redacted] four");
  }
});

test("ordinary words are shown as soon as they come", () => {
  const pieces = ["The", " capital", " of Ice", "land is", " Reykja", "vík", ".\n"];
  expect(streamed(pieces)).toEqual([...pieces, ""]);
});

test("what only began like a secret is shown with what follows, or at the end", () => {
  expect(streamed(["the correct", " horse"])).toEqual(["the ", "correct horse", ""]);
  expect(streamed(["it is correct-ho"])).toEqual(["it is ", "correct-ho"]);
});

test("an endless word is not waited for (SECR-04)", () => {
  const redactor = redactors();
  let shown = 0;
  const started = performance.now();
  for (let count = 0; count < 2000; count += 1) shown += redactor.push(`sk-${"x".repeat(100)}`).length;
  expect(shown + redactor.end().length).toBe(2000 * 103);
  expect(performance.now() - started).toBeLessThan(2000);
});
