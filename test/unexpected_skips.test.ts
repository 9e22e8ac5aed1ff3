import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "../.ci/unexpected_skips");

function check(output: string) {
  const { status, stdout } = spawnSync(SCRIPT, { input: output, encoding: "utf8" });
  return { status, stdout };
}

test("a skipped test that is on the list passes, any other one fails the run and is named", () => {
  const allowed = "skipped: test/launcher.test.ts > an old Node.js is told: no Node.js older than 22.19\n";
  expect(check(`all is well\n${allowed}3 passed, 0 failed, 1 skipped\n`)).toEqual({ status: 0, stdout: "" });
  const other = "\u001B[33mskipped: src/http/matrix.test.ts > every route: no reason given\u001B[0m\n";
  expect(check(allowed + other)).toEqual({
    status: 1,
    stdout: "not allowed to be skipped: src/http/matrix.test.ts > every route: no reason given\n",
  });
  expect(check("")).toEqual({ status: 0, stdout: "" });
});
