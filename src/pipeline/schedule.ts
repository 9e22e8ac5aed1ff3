/** Calls of one batch that run at once; more would only fight for the machine. */
export const PARALLEL_CALLS_MAX = 4;

/**
 * Runs jobs side by side, at most `PARALLEL_CALLS_MAX` at a time. Jobs that name the same resource run one after
 * another, in the order given. Resolves when all have ended; a job must not reject.
 */
export async function runScheduled(
  jobs: readonly { resources: readonly string[]; run: () => Promise<void> }[],
): Promise<void> {
  const lasts = new Map<string, Promise<void>>();
  const gate = createGate(PARALLEL_CALLS_MAX);
  const running = jobs.map((job) => {
    const before = Promise.all(job.resources.map((resource) => lasts.get(resource) ?? Promise.resolve()));
    const ended = before.then(() => gate(job.run));
    for (const resource of job.resources) lasts.set(resource, ended);
    return ended;
  });
  await Promise.all(running);
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
