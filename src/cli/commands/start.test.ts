import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runTurnstone } from "../testing/run_turnstone.ts";

test("a port that is taken is one sentence and nothing is left running", async () => {
  const home = mkdtempSync(join(tmpdir(), "turnstone-start-"));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  try {
    const { code, stdout, stderr } = await runTurnstone(["start", "--port", String(port)], { env: { HOME: home } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `The server cannot listen on 127.0.0.1 port ${port}: another program uses that port. Choose another with --port or TURNSTONE_PORT.\n`,
    );
  } finally {
    other.close();
    rmSync(home, { recursive: true });
  }
});

test("a gateway alone asks for a token", async () => {
  const { code, stderr } = await runTurnstone(["gateway"]);
  expect(code).toBe(1);
  expect(stderr).toContain("The gateway needs a bot token");
});
