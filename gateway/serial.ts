/** Work that keeps its order: what has the same key runs one after another, different keys run side by side. */
export interface SerialQueue {
  /** Resolves or rejects as the task does; a failure does not stop those that wait behind it. */
  run<Value>(key: string, task: () => Promise<Value>): Promise<Value>;
  /** Resolves when nothing runs or waits any more. */
  idle(): Promise<void>;
}

export function createSerialQueue(): SerialQueue {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run(key, task) {
      const before = tails.get(key) ?? Promise.resolve();
      const result = before.then(task);
      const tail = result
        .catch(() => {})
        .finally(() => {
          if (tails.get(key) === tail) tails.delete(key);
        });
      tails.set(key, tail);
      return result;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}
