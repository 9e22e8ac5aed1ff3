import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Names every skipped test with its reason, and ends with one plain line that a script can read. */
export class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // A file that could not be read holds no test that could fail.
    const broken = modules.filter((module) => module.state() === "failed" && module.errors().length > 0).length;
    for (const test of tests) if (test.result().state === "skipped") console.log(`skipped: ${describe(test)}`);
    console.log(`${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped")} skipped`);
  }
}

function describe(test: TestCase): string {
  const result = test.result();
  const reason = result.state === "skipped" ? result.note : undefined;
  return `${test.module.relativeModuleId} > ${test.fullName}: ${reason ?? "no reason given"}`;
}
