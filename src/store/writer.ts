import { explainFailure, sqliteCode, StoreError } from "./errors.ts";
import type { Sql } from "./sql.ts";

/** Milliseconds that one transaction may hold the event loop before the rest waits for the next. */
const BATCH_TIME_MS = 8;

/** Milliseconds until a lock that another process holds is taken for a failure. */
const BUSY_LIMIT_MS = 10_000;

/** Milliseconds between two tries for a lock; the event loop is free meanwhile. */
const BUSY_PAUSE_MS = 5;

/** The one way in which rows change. */
export interface Writer {
  /**
   * Runs `work` in a transaction that it shares with whatever else was asked for in the same turn of the event loop, so
   * that they all cost one sync of the disk. Resolves when the change outlives a power cut. When `work` throws, its own
   * changes are taken back and it alone rejects.
   */
  write<T>(work: () => T): Promise<T>;
  /** Finishes what was asked for and refuses the rest. */
  close(): Promise<void>;
}

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

type Outcome = { job: Job; ok: true; value: unknown } | { job: Job; ok: false; error: unknown };

/** Makes the writer of a connection; there is one per process. */
export function createWriter(sql: Sql): Writer {
  let jobs: Job[] = [];
  let scheduled = false;
  let closed = false;
  let busy_since: number | null = null;

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const flush = (): void => {
    scheduled = false;
    if (jobs.length === 0) return;
    const batch = jobs;
    jobs = [];
    let began = false;
    try {
      sql.run("begin immediate");
      began = true;
      busy_since = null;
      const { outcomes, rest } = runBatch(sql, batch);
      sql.run("commit");
      jobs = rest;
      for (const outcome of outcomes) settle(outcome);
    } catch (error) {
      if (sql.connection.inTransaction) sql.connection.exec("rollback");
      if (!began && waitsForLock(error)) {
        jobs = batch;
        return;
      }
      busy_since = null;
      for (const job of batch) job.reject(explainFailure(error));
    }
    if (jobs.length > 0) schedule();
  };

  const waitsForLock = (error: unknown): boolean => {
    if (sqliteCode(error) !== "SQLITE_BUSY") return false;
    busy_since ??= performance.now();
    if (performance.now() - busy_since > BUSY_LIMIT_MS) return false;
    scheduled = true;
    setTimeout(flush, BUSY_PAUSE_MS);
    return true;
  };

  const enqueue = <T>(work: () => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      jobs.push({ work, resolve: (value) => resolve(value as T), reject });
      schedule();
    });

  return {
    write: (work) =>
      closed ? Promise.reject(new StoreError("The store is closed; nothing more can be written.")) : enqueue(work),
    async close() {
      closed = true;
      if (jobs.length > 0) await enqueue(() => undefined).catch(() => undefined);
    },
  };
}

/** Runs jobs under a savepoint each until time is up; throws when the transaction as a whole is lost. */
function runBatch(sql: Sql, batch: readonly Job[]): { outcomes: Outcome[]; rest: Job[] } {
  const outcomes: Outcome[] = [];
  const until = performance.now() + BATCH_TIME_MS;
  for (const job of batch) {
    if (outcomes.length > 0 && performance.now() > until) break;
    sql.run("savepoint job");
    try {
      outcomes.push({ job, ok: true, value: job.work() });
    } catch (error) {
      // Some failures, such as a full disk, make SQLite roll back by itself: then no job of the batch has happened.
      if (!sql.connection.inTransaction) throw error;
      sql.run("rollback to job");
      outcomes.push({ job, ok: false, error: explainFailure(error) });
    }
    sql.run("release job");
  }
  return { outcomes, rest: batch.slice(outcomes.length) };
}

function settle(outcome: Outcome): void {
  if (outcome.ok) outcome.job.resolve(outcome.value);
  else outcome.job.reject(outcome.error);
}
