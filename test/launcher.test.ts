import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("a server that is started by hand has the flags that bound its memory, and a short command does not wait for them", async (context) => {
  context.skip(process.execve === undefined, "a process cannot be replaced on this system");
  const folder = mkdtempSync(join(tmpdir(), "turnstone-launcher-"));
  try {
    const tells = join(folder, "tells.cjs");
    writeFileSync(tells, "process.on('exit', () => console.error('flags', process.execArgv.join(' ')));");
    const flagsOf = async (...args: string[]): Promise<string | undefined> =>
      /^flags (.*)$/m.exec((await runTurnstone(args, { env: { NODE_OPTIONS: `--require ${tells}` } })).stderr)?.[1];
    expect(await flagsOf("--port", "x", "server")).toBe("--max-semi-space-size=8");
    expect(await flagsOf("--version")).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
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
