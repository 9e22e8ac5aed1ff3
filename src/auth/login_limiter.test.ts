import { expect, test } from "vitest";
import { createLoginLimiter } from "./login_limiter.ts";

function limiterAt(): { limiter: ReturnType<typeof createLoginLimiter>; pass(milliseconds: number): void } {
  let now = 1_000_000;
  const limiter = createLoginLimiter({ now: () => now, sleep: () => Promise.resolve() });
  return { limiter, pass: (milliseconds) => void (now += milliseconds) };
}

test("the sixth failure under one key has to wait for the first to be forgotten (AUTH-09)", () => {
  const { limiter, pass } = limiterAt();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect(limiter.begin([`address:${attempt}`, "name:anna"]).ok).toBe(true);
    pass(1000);
  }
  expect(limiter.begin(["address:new", "name:anna"])).toEqual({ ok: false, retry_after_s: 295 });
  expect(limiter.begin(["address:new", "name:otto"]).ok).toBe(true);
  pass(295_000);
  expect(limiter.begin(["name:anna"]).ok).toBe(true);
});

test("a success uses nothing up, and guesses at the same moment all count (AUTH-09)", () => {
  const { limiter } = limiterAt();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const admission = limiter.begin(["name:anna"]);
    if (admission.ok) admission.attempt.succeed();
    expect(admission.ok).toBe(true);
  }
  const parallel = Array.from({ length: 8 }, () => limiter.begin(["name:anna"]).ok);
  expect(parallel.filter(Boolean)).toHaveLength(5);
});
