/** Tells everybody who listens. A listener that leaves while being told is told no more. */
export interface Signal<T> {
  emit(value: T): void;
  /** Returns the function that ends it. */
  subscribe(listener: (value: T) => void): () => void;
}

export function createSignal<T>(): Signal<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    emit(value) {
      for (const listener of listeners) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** How long a wait may take where the caller names no limit: enough for a slow machine, short enough for a test. */
export const WAIT_MS_DEFAULT = 10_000;

/** How often a wait asks again without a change, for predicates that look at more than this server's state. */
const ASK_AGAIN_MS = 50;

/**
 * The predicate's first truthy answer, asked at once, after each change and now and then. Rejects at the limit with
 * `describe()` in its message. A predicate that throws ends the wait with what it threw.
 */
export function waitForChange<T>(
  changes: Signal<unknown>,
  predicate: () => T,
  options: { timeout_ms?: number; describe?: () => string } = {},
): Promise<NonNullable<T>> {
  const timeoutMs = options.timeout_ms ?? WAIT_MS_DEFAULT;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      leave();
      clearTimeout(timer);
      clearInterval(again);
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`Waited ${timeoutMs} ms in vain. ${options.describe?.() ?? ""}`.trim()));
    }, timeoutMs);
    const ask = (): void => {
      try {
        const answer = predicate();
        if (!answer) return;
        resolve(answer);
      } catch (error) {
        reject(error);
      }
      stop();
    };
    const again = setInterval(ask, ASK_AGAIN_MS);
    const leave = changes.subscribe(ask);
    ask();
  });
}
