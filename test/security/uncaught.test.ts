import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));
const TOKEN = `ts_${"ab".repeat(32)}`;

/** Runs a program that logs what nobody caught, and then goes wrong. */
function runWrong(fault: string): { status: number | null; output: string } {
  const program = `
    import { createLog } from "${SOURCE}lib/log.ts";
    import { createRedactor } from "${SOURCE}lib/redact.ts";
    import { logUncaught } from "${SOURCE}cli/uncaught.ts";
    const write = (line) => process.stderr.write(line);
    logUncaught(createLog({ level: "info", format: "json", redact: createRedactor([]), write, now: Date.now }));
    const held = { authorization: "Bearer ${TOKEN}", token: "${TOKEN}" };
    setImmediate(() => { ${fault} });
    setTimeout(() => console.error("still here"), 50);`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    timeout: 20_000,
  });
  return { status: run.status, output: run.stdout + run.stderr };
}

test.each([
  ["an object", "Promise.reject(held)"],
  [
    "an error that holds an object",
    "Promise.reject(Object.assign(new Error('it failed with ' + held.token), { held }))",
  ],
])(
  "a rejection with %s that nobody caught is logged without its secrets, and the process goes on (SECR-06)",
  (_what, fault) => {
    const { status, output } = runWrong(fault);
    expect(output).toContain("rejection.unhandled");
    expect(output).toContain("still here");
    expect(output).not.toContain(TOKEN);
    expect(status).toBe(0);
  },
);

test("an exception that nobody caught is logged without its secrets, and ends the process (SECR-06)", () => {
  const { status, output } = runWrong("throw held");
  expect(output).toContain("exception.uncaught");
  expect(output).not.toContain("still here");
  expect(output).not.toContain(TOKEN);
  expect(status).toBe(1);
});
