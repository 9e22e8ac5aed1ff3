import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const MODULE = new URL("./output.ts", import.meta.url).href;

/** A program that reports what nobody caught, as ours do, and writes until it has written enough. */
const PROGRAM = `
  const { outliveReaders } = await import(${JSON.stringify(MODULE)});
  outliveReaders();
  let reports = 0;
  process.on("uncaughtException", (error) => {
    reports += 1;
    if (reports > 100) process.exit(1);
    process.stderr.write(error.message);
  });
  for (let line = 0; line < 200; line += 1) {
    process.stderr.write("a line\\n");
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.exit(7);
`;

test("a process whose output nobody reads any more goes on with its work", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], { stdio: ["ignore", "pipe", "pipe"] });
  child.stderr.destroy();
  child.stdout.destroy();
  const [code] = await once(child, "exit");
  expect(code).toBe(7);
});
