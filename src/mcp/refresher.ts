export interface RefresherOptions {
  debounce_ms: number;
  /** Seconds; 0 for never. */
  interval_s: number;
  /** Milliseconds until a failed refresh is tried again. */
  retry_ms: number;
  /** Answers whether it worked; never rejects. */
  refresh(): Promise<boolean>;
}

/** What `setTimeout` takes at most. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * When a server's tools are read again: after a burst of notifications, now and then, and when a person asks. Never two
 * at once, never inside a notification, and never without a last one after the last notification.
 */
export class Refresher {
  readonly #options: RefresherOptions;
  #soon: NodeJS.Timeout | null = null;
  #periodic: NodeJS.Timeout | null = null;
  #running: Promise<boolean> | null = null;
  #wanted = false;
  #on = false;

  constructor(options: RefresherOptions) {
    this.#options = options;
  }

  /** Takes notifications from now on, and looks by itself when the server does not push. */
  start(periodically: boolean): void {
    this.#on = true;
    if (this.#wanted) this.soon();
    // The first look comes at a random time, so that the nodes of a cluster do not all look at once.
    if (periodically && this.#options.interval_s > 0) this.#lookIn(Math.random());
  }

  stop(): void {
    this.#on = false;
    this.#wanted = false;
    if (this.#soon !== null) clearTimeout(this.#soon);
    if (this.#periodic !== null) clearTimeout(this.#periodic);
    this.#soon = null;
    this.#periodic = null;
  }

  /** Something changed. One that comes before the start is kept for it. */
  soon(delay_ms = this.#options.debounce_ms): void {
    this.#wanted = true;
    if (!this.#on || this.#soon !== null || this.#running !== null) return;
    this.#soon = setTimeout(() => {
      this.#soon = null;
      void this.now();
    }, delay_ms).unref();
  }

  /** Reads now, after the reading that is under way. */
  async now(): Promise<boolean> {
    while (this.#running !== null) await this.#running;
    this.#wanted = false;
    this.#running = this.#options.refresh();
    const worked = await this.#running;
    this.#running = null;
    if (!worked && this.#on) this.soon(this.#options.retry_ms);
    else if (this.#wanted) this.soon();
    return worked;
  }

  #lookIn(share: number): void {
    const delay_ms = Math.min(this.#options.interval_s * 1000 * share, TIMER_MS_MAX);
    this.#periodic = setTimeout(() => {
      void this.now();
      this.#lookIn(1);
    }, delay_ms).unref();
  }
}
