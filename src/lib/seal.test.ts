import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createSealer } from "./seal.ts";

const sealer = createSealer("a secret of the tests", "tests");

test("what was sealed is opened, and nothing of it is readable", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), (text, about) => {
      const wellFormed = text.toWellFormed();
      expect(sealer.open(sealer.seal(wellFormed, about), about)).toBe(wellFormed);
    }),
  );
  const sealed = sealer.seal("access token", "ana");
  expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("token");
  expect(sealer.seal("access token", "ana")).not.toBe(sealed);
});

test("another secret, purpose or owner, and a changed byte, open nothing", () => {
  const sealed = sealer.seal("x", "ana");
  expect(sealer.open(sealed, "ben")).toBeNull();
  expect(createSealer("another secret", "tests").open(sealed, "ana")).toBeNull();
  expect(createSealer("a secret of the tests", "others").open(sealed, "ana")).toBeNull();
  const bytes = Buffer.from(sealed, "base64url");
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(sealer.open(changed.toString("base64url"), "ana")).toBeNull();
  }
  for (const none of ["", "x", "!!"]) expect(sealer.open(none, "ana")).toBeNull();
});
