/** Longer than any wait here, and as long as a timer can be: the SDK's own limit is not to strike first. */
export const UNLIMITED_MS = 2_147_483_647;

/**
 * How long a call is waited for: progress begins the time anew, up to a total, and while people are asked it stands
 * still. Its signal is aborted when the time is over and when the call's own signal is.
 */
export class Patience {
  readonly #abort = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timeout_ms: number;
  readonly #now: () => number;
  #left_ms: number;
  #total_left_ms: number;
  #since: number;
  #asking = 0;
  #timer: NodeJS.Timeout | undefined;
  timed_out = false;

  constructor(outer: AbortSignal, limits: { timeout_ms: number; total_ms: number }, now: () => number) {
    this.#outer = outer;
    this.#timeout_ms = limits.timeout_ms;
    this.#left_ms = limits.timeout_ms;
    this.#total_left_ms = limits.total_ms;
    this.#now = now;
    this.#since = now();
    if (outer.aborted) this.#stop();
    outer.addEventListener("abort", this.#stop, { once: true });
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  progress(): void {
    this.#count();
    this.#left_ms = this.#timeout_ms;
    this.#arm();
  }

  /** The time stands still until what is awaited has ended. */
  async whileAsking<T>(wait: () => Promise<T>): Promise<T> {
    this.#count();
    this.#asking += 1;
    clearTimeout(this.#timer);
    try {
      return await wait();
    } finally {
      this.#asking -= 1;
      this.#since = this.#now();
      this.#arm();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#stop);
  }

  #count(): void {
    if (this.#asking > 0) return;
    const passed = this.#now() - this.#since;
    this.#since = this.#now();
    this.#left_ms -= passed;
    this.#total_left_ms -= passed;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#asking > 0 || this.#abort.signal.aborted) return;
    const left_ms = Math.min(this.#left_ms, this.#total_left_ms, UNLIMITED_MS);
    this.#timer = setTimeout(this.#expire, Math.max(0, left_ms));
  }

  readonly #expire = (): void => {
    this.timed_out = true;
    this.#abort.abort(new Error("The call took too long."));
  };

  readonly #stop = (): void => {
    clearTimeout(this.#timer);
    this.#abort.abort(this.#outer.reason);
  };
}
