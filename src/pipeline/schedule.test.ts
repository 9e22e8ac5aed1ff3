import { expect, test } from "vitest";
import { PARALLEL_CALLS_MAX, runScheduled, type ScheduledJob } from "./schedule.ts";

interface Bench {
  /** What happened, in order: `a+` for the start of job a, `a-` for its end. */
  seen: string[];
  job(name: string, resources: string[], kind: "reads" | "writes"): ScheduledJob;
  /** Lets a job end; it must have started. */
  end(name: string): Promise<void>;
}

function createBench(): Bench {
  const seen: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    seen,
    job: (name, resources, kind) => ({
      resources,
      only_reads: kind === "reads",
      run: async () => {
        seen.push(`${name}+`);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        seen.push(`${name}-`);
        return () => Promise.resolve();
      },
    }),
    async end(name) {
      await settled();
      const end = ends.get(name);
      if (end === undefined) throw new Error(`${name} has not started: ${seen.join(" ")}`);
      end();
      await settled();
    },
  };
}

/** Resolves when every promise that can settle has. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("reads of one file run side by side, and a write of it waits for them", async () => {
  const { seen, job, end } = createBench();
  const all = runScheduled([job("a", ["/f"], "reads"), job("b", ["/f"], "reads"), job("c", ["/f"], "writes")]);
  await settled();
  expect(seen).toEqual(["a+", "b+"]);
  await end("b");
  expect(seen).not.toContain("c+");
  await end("a");
  expect(seen.at(-1)).toBe("c+");
  await end("c");
  await all;
});

test("a read that was asked for after a write sees what was written", async () => {
  const { seen, job, end } = createBench();
  const all = runScheduled([job("a", ["/f"], "writes"), job("b", ["/f"], "reads"), job("c", ["/g"], "writes")]);
  await settled();
  expect(seen).toEqual(["a+", "c+"]);
  await end("a");
  expect(seen).toEqual(["a+", "c+", "a-", "b+"]);
  await end("b");
  await end("c");
  await all;
});

test("a call gives its place to the next one before its result is kept", async () => {
  const { seen, job, end } = createBench();
  let keep = (): void => {};
  const kept = new Promise<void>((resolve) => (keep = resolve));
  const first = job("first", [], "reads");
  const jobs = Array.from({ length: PARALLEL_CALLS_MAX }, (_value, index) => job(`${index}`, [], "writes"));
  const slow: ScheduledJob = { ...first, run: () => first.run().then(() => () => kept) };
  const all = runScheduled([slow, ...jobs]);
  await settled();
  expect(seen).toHaveLength(PARALLEL_CALLS_MAX);
  await end("first");
  expect(seen.at(-1)).toBe(`${PARALLEL_CALLS_MAX - 1}+`);
  for (const [index] of jobs.entries()) await end(`${index}`);
  keep();
  await all;
});

test("a write of what was read begins only when the read's result is kept", async () => {
  const { seen, job, end } = createBench();
  const read = job("read", ["/f"], "reads");
  const kept = Promise.withResolvers<void>();
  const reads: ScheduledJob = { ...read, run: async () => read.run().then(() => () => kept.promise) };
  const all = runScheduled([reads, job("write", ["/f"], "writes"), job("other", ["/g"], "writes")]);
  await end("read");
  expect(seen).toEqual(["read+", "other+", "read-"]);
  kept.resolve();
  await end("write");
  await end("other");
  await all;
  expect(seen.slice(3)).toEqual(["write+", "write-", "other-"]);
});

test("one failure is told when all others have ended, and what waited for it does not run", async () => {
  const { seen, job, end } = createBench();
  const failing: ScheduledJob = {
    resources: ["/f"],
    only_reads: false,
    run: () => Promise.reject(new Error("the assumption does not hold")),
  };
  const all = runScheduled([failing, job("after", ["/f"], "reads"), job("other", [], "writes")]);
  const failure = all.catch((error: unknown) => error);
  await end("other");
  expect(await failure).toEqual(new Error("the assumption does not hold"));
  expect(seen).toEqual(["other+", "other-"]);
});
