import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SUITE = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const CLIENT = fileURLToPath(new URL("../../test/support/mcp/conformance_client.ts", import.meta.url));

/** What this client declares. */
const SCENARIOS = ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"];

test.each(SCENARIOS)(
  "the official conformance suite is passed: %s",
  async (scenario) => {
    const command = `${process.execPath} --no-warnings ${CLIENT}`;
    const output = await new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        [SUITE, "client", "--command", command, "--scenario", scenario],
        (error, stdout, stderr) => resolve(`${stdout}${stderr}exit ${error === null ? 0 : String(error.code)}`),
      );
    });
    expect(output).toMatch(/Passed: (\d+)\/\1, 0 failed/);
    expect(output).toMatch(/exit 0$/);
  },
  60_000,
);
