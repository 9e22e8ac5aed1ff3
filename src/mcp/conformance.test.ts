import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "vitest";

const SUITE = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const CLIENT = fileURLToPath(new URL("../../test/support/mcp/conformance_client.ts", import.meta.url));

/** What this client declares. Those for machines that sign in by themselves are for other clients. */
const SCENARIOS = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];

test.concurrent.for(SCENARIOS)(
  "the official conformance suite is passed: %s",
  { timeout: 60_000 },
  async (scenario, { expect }) => {
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
);
