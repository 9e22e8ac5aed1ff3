import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "./password.ts";

test("a password is told from others, also beyond 72 bytes, with NUL and with emoji (AUTH-10)", async () => {
  const long = "a".repeat(72);
  for (const password of ["secret", `${long}b`, "before\0after", "🐢🐢🐢🐢", "x".repeat(1024)]) {
    const hash = await hashPassword(password);
    expect(await verifyPassword(password, hash)).toBe(true);
    expect(await verifyPassword(`${password}c`, hash)).toBe(false);
  }
  expect(await verifyPassword(`${long}c`, await hashPassword(`${long}b`))).toBe(false);
  expect(await verifyPassword("before", await hashPassword("before\0after"))).toBe(false);
});

test("the same password has another hash each time", async () => {
  expect(await hashPassword("secret")).not.toBe(await hashPassword("secret"));
});

test.each([null, "", "plain", "scrypt$15$8$1$$", "bcrypt$15$8$1$c2FsdA$a2V5"])(
  "nothing fits the hash %s (AUTH-11)",
  async (hash) => {
    expect(await verifyPassword("", hash)).toBe(false);
  },
);
