/** Calls of one batch that run at once; more would only fight for the machine. */
export const PARALLEL_CALLS_MAX = 4;

/** A call that waits for its turn. */
export interface ScheduledJob {
  /** What it touches, such as a real path. */
  resources: readonly string[];
  /** True for one that only looks: any number of these may touch one thing at once. */
  only_reads: boolean;
  /** Must not reject. */
  run: () => Promise<void>;
}

/** Who touches one thing at last, in the order of the calls. */
interface Touched {
  written: Promise<void>;
  reads: Promise<void>[];
}

/**
 * Runs jobs side by side, at most `PARALLEL_CALLS_MAX` at a time. Jobs that name the same resource run one after
 * another, in the order given, but for those that only read it: between two writes their order cannot be told.
 * Resolves when all have ended.
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
    const ended = Promise.all(before).then(() => gate(job.run));
    for (const resource of job.resources) touch(touched, resource, ended, job.only_reads);
    return ended;
  });
  await Promise.all(running);
}

function touch(touched: Map<string, Touched>, resource: string, ended: Promise<void>, only_reads: boolean): void {
  const last = touched.get(resource);
  if (!only_reads) touched.set(resource, { written: ended, reads: [] });
  else if (last === undefined) touched.set(resource, { written: Promise.resolve(), reads: [ended] });
  else last.reads.push(ended);
}

function createGate(limit: number): (run: () => Promise<void>) => Promise<void> {
  let free = limit;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
