import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runTurnstone } from "../src/cli/testing/run_turnstone.ts";
import { ROOT } from "./structure/source.ts";

const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** A Node that is too old, where this machine has one. */
function oldNode(): string | null {
  const node = "/usr/bin/node";
  if (!existsSync(node)) return null;
  const [major = 0, minor = 0] = execFileSync(node, ["-p", "process.versions.node"]).toString().split(".").map(Number);
  return major < 22 || (major === 22 && minor < 19) ? node : null;
}

test("the program says its version and what it can do", async () => {
  expect(await runTurnstone(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  const help = await runTurnstone(["--help"]);
  expect(help.code).toBe(0);
  for (const command of ["start", "server", "gateway", "practice", "chat", "admin", "doctor"]) {
    expect(help.stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  }
});

test("a slip of the pen is answered with what was meant", async () => {
  const { code, stderr } = await runTurnstone(["strat"]);
  expect(code).toBe(1);
  expect(stderr).toContain("unknown command 'strat'");
  expect(stderr).toContain("Did you mean start?");
});

test("under an old Node the bundled one takes over (REQ-SERVER-035)", async (context) => {
  const node = oldNode();
  context.skip(node === null, "no Node.js older than 22.19 at /usr/bin/node");
  expect(await runTurnstone(["--version"], { node: node ?? "" })).toEqual({
    code: 0,
    stdout: `${version}\n`,
    stderr: "",
  });
  expect((await runTurnstone(["--port", "x", "server"], { node: node ?? "" })).code).toBe(1);
});

test("under an old Node without a bundled one a sentence says what to install", async (context) => {
  const node = oldNode();
  context.skip(node === null, "no Node.js older than 22.19 at /usr/bin/node");
  const folder = mkdtempSync(join(tmpdir(), "turnstone-launcher-"));
  try {
    cpSync(join(ROOT, "bin"), join(folder, "bin"), { recursive: true });
    const run = (): string =>
      execFileSync(node ?? "", [join(folder, "bin", "turnstone.cjs")], { stdio: "pipe" }).toString();
    expect(run).toThrow(/turnstone needs Node\.js 22\.19 or newer and this is .*Install Node\.js 24/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
