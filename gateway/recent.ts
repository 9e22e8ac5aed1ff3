/** A map that remembers what was used last and forgets the rest, so that it never grows. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

export function createRecent<Value>(size_max: number): Recent<Value> {
  const values = new Map<string, Value>();
  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      const oldest = values.size > size_max ? values.keys().next().value : undefined;
      if (oldest !== undefined) values.delete(oldest);
    },
    delete: (key) => void values.delete(key),
  };
}
