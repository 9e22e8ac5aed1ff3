/** Chance that comes out the same for the same seed. */
export interface Random {
  /** At least 0 and below 1. */
  fraction(): number;
  /** At least 0 and below `limit`. */
  below(limit: number): number;
  one<T>(values: readonly T[]): T;
  chance(probability: number): boolean;
}

/** Mulberry32, which is small and good enough to choose inputs with. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    one<T>(values: readonly T[]): T {
      const value = values[below(values.length)];
      if (value === undefined) throw new Error("There is nothing to choose from.");
      return value;
    },
    chance: (probability) => fraction() < probability,
  };
}
