import { judge } from "../agent/judge.ts";
import { undecidedCalls } from "../agent/projection.ts";
import { usageChange } from "../agent/usage.ts";
import type { Batch } from "../agent/conversation.ts";
import { RISKS, type Assessment } from "../protocol/approval.ts";
import { textOf } from "../protocol/message.ts";
import { allowByJudge } from "./approvals.ts";
import type { LiveWorkstream } from "./live_workstream.ts";

/** Asks a second model about each card, beside it: a card waits for no judge, and no judge is asked twice about one. */
export class Assessor {
  readonly #calls = new Map<string, AbortController>();

  /** Begins to ask about what waits, unless it was asked already. */
  consider(actor: LiveWorkstream, cycle_id: string): void {
    const { batch = null } = actor.conversation.turn ?? {};
    const { model_alias } = actor.services.settings.judge;
    if (model_alias === null || batch?.cycle_id !== cycle_id || batch.assessed || this.#calls.has(cycle_id)) return;
    const abort = new AbortController();
    this.#calls.set(cycle_id, abort);
    this.#assess(actor, batch, cycle_id, model_alias, abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) actor.services.log.warn("judge.failed", { ws_id: actor.row.ws_id, error });
      })
      .finally(() => this.#calls.delete(cycle_id));
  }

  /** Ends all calls. */
  stop(): void {
    for (const call of this.#calls.values()) call.abort();
  }

  async #assess(
    actor: LiveWorkstream,
    batch: Batch,
    cycle_id: string,
    model_alias: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { services, conversation, row } = actor;
    const settings = services.models().models.get(model_alias);
    if (settings === undefined) throw new Error(`There is no model ${model_alias}.`);
    const items = batch.items
      .filter((item) => item.needs_approval && item.error === null)
      .map((item) => ({ ...item, preview: services.redact(item.preview) }));
    const asked_for = conversation.last_request === null ? "" : textOf(conversation.last_request.message.content);
    const { assessments, error, answer } = await judge(items, asked_for, settings, signal, services);
    await actor.serial(async () => {
      const changes = answer === null ? [] : [usageChange(row, answer)];
      if (conversation.turn?.batch !== batch) return actor.append({ entries: [], changes });
      const told = Object.fromEntries(
        Object.entries(assessments).map(([call_id, { risk, reason }]) => [
          call_id,
          { risk, reason: services.redact(reason) },
        ]),
      );
      const problem = error === null ? {} : { error: services.redact(error) };
      const event = { type: "risk_assessed" as const, cycle_id, model_alias, assessments: told, ...problem };
      await actor.append({ entries: [{ event }], changes });
      const allowed = undecidedCalls(batch).filter((call_id) => this.#mayRun(actor, batch, call_id, told[call_id]));
      if (allowed.length > 0) await allowByJudge(actor, batch, allowed);
    });
  }

  /** Whether the operator lets such a call run on the judge's word. What a rule asks for, or what destroys, never does. */
  #mayRun(actor: LiveWorkstream, batch: Batch, call_id: string, assessment: Assessment | undefined): boolean {
    const { auto_approve_below } = actor.services.settings.judge;
    if (auto_approve_below === null || assessment === undefined) return false;
    const kept = batch.calls.find((call) => call.call_id === call_id);
    const item = batch.items.find((one) => one.call_id === call_id);
    if (kept === undefined || kept.person_only === true || item?.destructive === true) return false;
    return RISKS.indexOf(assessment.risk) < RISKS.indexOf(auto_approve_below);
  }
}
