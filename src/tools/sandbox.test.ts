import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSpawner } from "../lib/spawn.ts";
import { createSandbox, type Isolation } from "./sandbox.ts";

/** What is found where `bwrap` is this script. */
async function isolationWith(bwrap: string): Promise<Isolation> {
  const folder = mkdtempSync(join(tmpdir(), "turnstone-sandbox-"));
  const hidden = join(folder, "data");
  const programs = join(folder, "bin");
  for (const path of [hidden, programs]) mkdirSync(path);
  writeFileSync(join(programs, "bwrap"), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
  const env = { PATH: `${programs}:/usr/bin:/bin`, LANG: "C.UTF-8" };
  const spawner = createSpawner({ env });
  onTestFinished(async () => {
    await spawner.close();
    rmSync(folder, { recursive: true });
  });
  return createSandbox({ mode: "auto", network: true, hidden_paths: [hidden], home: hidden, env }, spawner);
}

const SKIP_OPTIONS = 'while [ "$1" != "--" ]; do shift; done; shift';

test.each([
  ["keeps nothing in", `${SKIP_OPTIONS}; exec "$@"`, "The sandbox does not hide our own files; it is not used."],
  ["runs nothing", "exit 0", "The sandbox does not start: it says nothing. Install bubblewrap"],
  [
    "lets the system be written",
    "printf 'hidden\\nalone\\npowerless\\nworkspace\\nsystem-writable\\ndone\\n'",
    "The sandbox does not protect the system's files; it is not used.",
  ],
  ["fails", "echo 'bwrap: No permissions' >&2; exit 1", "The sandbox does not start: bwrap: No permissions. Install"],
])("a bubblewrap that %s is not taken for a sandbox, and people are told", async (_what, script, reason) => {
  expect(await isolationWith(script)).toEqual({
    sandbox: null,
    required: false,
    reason: expect.stringContaining(reason),
  });
});
