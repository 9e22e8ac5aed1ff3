import { undecidedCalls } from "../agent/projection.ts";
import { expireApproval } from "./approvals.ts";
import type { LiveWorkstream } from "./live_workstream.ts";

/** Node's timers hold 31 bits of milliseconds; a longer wait is taken in pieces. */
const TIMER_MAX_MS = 2_147_483_647;

/** Watches the deadline of the pending approval, if it has one. */
export class ExpiryTimer {
  readonly #actor: LiveWorkstream;
  #timer: NodeJS.Timeout | null = null;

  constructor(actor: LiveWorkstream) {
    this.#actor = actor;
  }

  arm(): void {
    this.stop();
    const batch = this.#actor.conversation.turn?.batch ?? null;
    if (batch === null || batch.cycle_id === null || batch.expires_at === null || undecidedCalls(batch).length === 0) {
      return;
    }
    const { cycle_id, expires_at } = batch;
    const left_ms = Date.parse(expires_at) - this.#actor.services.clock.now();
    this.#timer = setTimeout(() => this.#due(cycle_id, left_ms), Math.min(Math.max(left_ms, 0), TIMER_MAX_MS));
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #due(cycle_id: string, left_ms: number): void {
    if (left_ms > TIMER_MAX_MS) {
      this.arm();
      return;
    }
    expireApproval(this.#actor, cycle_id).catch((error: unknown) => {
      const { log } = this.#actor.services;
      log.error("approval.expiry_failed", { ws_id: this.#actor.row.ws_id, cycle_id, error });
    });
  }
}
