import { statSync } from "node:fs";
import type { StartOrder } from "./spawn_frames.ts";
import type { Job } from "./spawn_job.ts";

/** Each is a waiting process of a few megabytes. */
const SPARES_MAX = 4;
/** A spare that nobody needed by then goes, and with it what it has inherited of the machine's state. */
const SPARE_AGE_MAX_MS = 60_000;

interface Spare {
  job: Job;
  /** Device, inode and birth of the working folder: another folder of that name is another place. */
  folder: string;
  timer: NodeJS.Timeout;
}

/**
 * Programs started ahead. An agent that has run one command in a folder mostly runs another one soon; a program that
 * begins by reading its input can wait for it, so that the next call pays for no start. Each is used once.
 */
export class Spares {
  readonly #start: (order: StartOrder) => Job;
  readonly #waiting = new Map<string, Spare>();

  constructor(start: (order: StartOrder) => Job) {
    this.#start = start;
  }

  /** A waiting program that is just what the order asks for. */
  take(order: StartOrder): Job | undefined {
    const key = keyOf(order);
    const spare = this.#waiting.get(key);
    if (spare === undefined) return undefined;
    this.#waiting.delete(key);
    clearTimeout(spare.timer);
    if (spare.job.waiting && spare.folder === folderIdentity(order.cwd)) return spare.job;
    spare.job.kill();
    return undefined;
  }

  prepare(order: StartOrder): void {
    const key = keyOf(order);
    const folder = folderIdentity(order.cwd);
    if (folder === null || this.#waiting.has(key)) return;
    const oldest = this.#waiting.keys().next().value;
    if (this.#waiting.size >= SPARES_MAX && oldest !== undefined) this.#drop(oldest);
    const timer = setTimeout(() => this.#drop(key), SPARE_AGE_MAX_MS);
    this.#waiting.set(key, { job: this.#start(order), folder, timer });
  }

  close(): void {
    for (const key of this.#waiting.keys()) this.#drop(key);
  }

  #drop(key: string): void {
    const spare = this.#waiting.get(key);
    if (spare === undefined) return;
    this.#waiting.delete(key);
    clearTimeout(spare.timer);
    spare.job.kill();
  }
}

function keyOf({ file, args, cwd, env, supervised }: StartOrder): string {
  return JSON.stringify([file, args, cwd, env, supervised]);
}

function folderIdentity(path: string): string | null {
  try {
    const { dev, ino, birthtimeMs } = statSync(path);
    return `${dev}:${ino}:${birthtimeMs}`;
  } catch {
    return null;
  }
}
