import type { Clock } from "../lib/clock.ts";

/** Failures in a row after which a model is left alone, and for how long until one call may probe it. */
const FAILURES_TO_OPEN = 5;
const COOLDOWN_MS = 60_000;

export type CircuitState = "closed" | "open" | "half_open";

/**
 * Remembers which models fail, fed by real calls alone. An open circuit refuses calls at once, so that a fallback answers
 * without waiting; after the cooldown a single call probes.
 */
export class Breakers {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, { failures: number; opened_at: number | null; probing: boolean }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a call may be made now. A true for a half-open circuit takes the one probe. */
  permits(alias: string): boolean {
    const circuit = this.#circuits.get(alias);
    if (circuit === undefined || circuit.opened_at === null) return true;
    if (circuit.probing || this.#clock.now() - circuit.opened_at < COOLDOWN_MS) return false;
    circuit.probing = true;
    return true;
  }

  succeeded(alias: string): void {
    this.#circuits.delete(alias);
  }

  /** A failure of the back end itself; a refused request says nothing about it. */
  failed(alias: string): void {
    const circuit = this.#circuits.get(alias) ?? { failures: 0, opened_at: null, probing: false };
    circuit.failures += 1;
    circuit.probing = false;
    if (circuit.failures >= FAILURES_TO_OPEN) circuit.opened_at = this.#clock.now();
    this.#circuits.set(alias, circuit);
  }

  state(alias: string): CircuitState {
    const circuit = this.#circuits.get(alias);
    if (circuit === undefined || circuit.opened_at === null) return "closed";
    return circuit.probing || this.#clock.now() - circuit.opened_at >= COOLDOWN_MS ? "half_open" : "open";
  }
}
