/** Calls of one batch that run at once; more would only fight for the machine. */
export const PARALLEL_CALLS_MAX = 4;

/** A call that waits for its turn. */
export interface ScheduledJob {
  /** What it touches, such as a real path. */
  resources: readonly string[];
  /** True for one that only looks: any number of these may touch one thing at once. */
  only_reads: boolean;
  /** Resolves to what is left to do, such as writing its result, once another may take its place. */
  run: () => Promise<() => Promise<void>>;
}

/** Who touches one thing at last, in the order of the calls. */
interface Touched {
  written: Promise<unknown>;
  reads: Promise<unknown>[];
}

/**
 * Runs jobs side by side, at most `PARALLEL_CALLS_MAX` at a time. Jobs that name the same resource run one after
 * another, in the order given and each only when all of the one before is done: a read whose result is not kept yet
 * might be done again after a crash, and must not see what came later. Those that only read do not wait for each other:
 * between two writes their order cannot be told.
 * Comes to its end when all have ended, and then rejects with what the first of the failed ones rejected with.
 */
export async function runScheduled(jobs: readonly ScheduledJob[]): Promise<void> {
  const touched = new Map<string, Touched>();
  const gate = createGate(PARALLEL_CALLS_MAX);
  const running = jobs.map((job) => {
    const before = job.resources.flatMap((resource) => {
      const last = touched.get(resource);
      if (last === undefined) return [];
      return job.only_reads ? [last.written] : [last.written, ...last.reads];
    });
    const done = Promise.all(before)
      .then(() => gate(job.run))
      .then((finish) => finish());
    for (const resource of job.resources) touch(touched, resource, done, job.only_reads);
    return done;
  });
  const outcomes = await Promise.allSettled(running);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function touch(touched: Map<string, Touched>, resource: string, done: Promise<unknown>, only_reads: boolean): void {
  const last = touched.get(resource);
  if (!only_reads) touched.set(resource, { written: done, reads: [] });
  else if (last === undefined) touched.set(resource, { written: Promise.resolve(), reads: [done] });
  else last.reads.push(done);
}

function createGate(limit: number): <Value>(run: () => Promise<Value>) => Promise<Value> {
  let free = limit;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
