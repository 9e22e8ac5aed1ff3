import type { Clock } from "../lib/clock.ts";

/** Failures in a row after which a model is left alone, and for how long until one call may try it. */
const FAILURES_TO_OPEN = 5;
const COOLDOWN_MS = 60_000;

/** A probe is under way for a moment only; whoever is turned away meanwhile comes back soon. */
const PROBE_WAIT_MS = 5000;

export type CircuitState = "closed" | "open" | "half_open";

interface Circuit {
  failures: number;
  opened_at: number | null;
  probing: boolean;
}

/**
 * Remembers which models fail, fed by real calls and by probes. An open circuit refuses calls at once, so that a
 * fallback answers without waiting; after the cooldown a single call or probe tries the model.
 */
export class Breakers {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();
  readonly #unreachable = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a call may be made now. A true for a half-open circuit takes the one trial. */
  permits(alias: string): boolean {
    const circuit = this.#circuits.get(alias);
    if (circuit === undefined || circuit.opened_at === null) return true;
    if (circuit.probing || this.#cooldownLeft(circuit) > 0) return false;
    circuit.probing = true;
    return true;
  }

  /** Milliseconds until a refused call is worth another try. */
  waitMs(alias: string): number {
    const circuit = this.#circuits.get(alias);
    return circuit === undefined ? 0 : Math.max(PROBE_WAIT_MS, this.#cooldownLeft(circuit));
  }

  succeeded(alias: string): void {
    this.#circuits.delete(alias);
    this.#unreachable.delete(alias);
  }

  /** A failure of the back end itself; a refused request says nothing about it. */
  failed(alias: string): void {
    const circuit = this.#circuits.get(alias) ?? { failures: 0, opened_at: null, probing: false };
    circuit.failures += 1;
    circuit.probing = false;
    if (circuit.failures >= FAILURES_TO_OPEN) circuit.opened_at = this.#clock.now();
    this.#circuits.set(alias, circuit);
  }

  /** The trial of a half-open circuit came to no verdict, such as when it was cancelled: the next call may try. */
  undecided(alias: string): void {
    const circuit = this.#circuits.get(alias);
    if (circuit !== undefined) circuit.probing = false;
  }

  /**
   * Whether a probe has anything to find out: the model failed or was not there, and no cooldown protects it any
   * more.
   */
  wantsProbe(alias: string): boolean {
    const circuit = this.#circuits.get(alias);
    if (circuit === undefined || circuit.opened_at === null) return this.#unreachable.has(alias);
    return !circuit.probing && this.#cooldownLeft(circuit) === 0;
  }

  /**
   * What a probe found. A server that is there closes the circuit, but is not trusted yet: its next failure opens it
   * again. One that is not there has its cooldown begin anew, without a person's call having been spent on it.
   */
  probed(alias: string, answers: boolean): void {
    if (answers) this.#unreachable.delete(alias);
    else this.#unreachable.add(alias);
    const circuit = this.#circuits.get(alias);
    if (circuit === undefined || circuit.opened_at === null || circuit.probing) return;
    if (answers) this.#circuits.set(alias, { failures: FAILURES_TO_OPEN - 1, opened_at: null, probing: false });
    else circuit.opened_at = this.#clock.now();
  }

  state(alias: string): CircuitState {
    const circuit = this.#circuits.get(alias);
    if (circuit === undefined || circuit.opened_at === null) return "closed";
    return circuit.probing || this.#cooldownLeft(circuit) === 0 ? "half_open" : "open";
  }

  /** Whether the model is believed to answer. */
  isUp(alias: string): boolean {
    return this.state(alias) !== "open" && !this.#unreachable.has(alias);
  }

  #cooldownLeft({ opened_at }: Circuit): number {
    return opened_at === null ? 0 : Math.max(0, opened_at + COOLDOWN_MS - this.#clock.now());
  }
}
