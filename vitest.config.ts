import { defineConfig } from "vitest/config";
import { SkipReporter } from "./test/support/skip_reporter.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "gateway/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // Tests start servers and programs of their own, so more files at once than cores only makes each wait for the
    // other.
    maxWorkers: 2,
    // The slowest real thing that a test waits for is a cold start of several processes on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", new SkipReporter()],
  },
});
